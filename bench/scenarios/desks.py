"""How soon 200 open desks see what a company writes, and what it costs that they ask.

Each desk has a ticket open and asks for news as its browser does; a company writes on tickets. A
comment is seen when the page that the browser then fetches has it. Three ways: the service answers
when there is news; it answers at once, every two seconds; a process that listens to PostgreSQL
pushes. The first is judged: seen within 3 seconds (p95), and at most 10 % of a core while nothing
happens.
"""

import argparse
import asyncio
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.db import connection

from bench import cpu, stream
from bench.callers import Caller
from bench.measure import in_ms
from bench.open_desks import Office, World, make_world
from bench.outcome import Outcome, Table, verdict
from bench.progress import say, until
from bench.rig import Rig, postgres
from devtools.ports import choose_port

SEEN_WITHIN_MS = 3000.0
MOST_PERCENT = 10.0
FIRST_PORT = 8750


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--desks", type=int, default=200, help="open, for")
    parser.add_argument("--seconds", type=float, default=40, help="seconds each, with")
    parser.add_argument("--comments", type=float, default=2, help="comments a second")


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    say(f"making {given.desks} agents who are signed in, with a ticket each")
    world = make_world(given.desks)
    port = choose_port("PORT", None, FIRST_PORT)
    rig.service.environment |= {
        "PORT": str(port),
        "CONNECTIONS_PER_ADDRESS": "100000",
        "RATE_LIMIT_READ": "1000000000",
        "RATE_LIMIT_WRITE": "1000000000",
    }
    rig.service.start("web")
    until(lambda: answers(port), "the web processes did not start")
    pid = rig.service.processes["web"].pid
    rows = [
        measure("waiting", world, Office(world, port, patient=True), given, {"web": pid}),
        measure("asking", world, Office(world, port), given, {"web": pid}),
    ]
    with connection.cursor() as cursor:
        cursor.execute(stream.TRIGGER)
    stream_port = choose_port("PORT", None, port + 1)
    streamer = subprocess.Popen(
        [sys.executable, "-m", "bench.stream", str(stream_port), database_address()]
    )
    try:
        until(lambda: answers(stream_port), "the process that pushes did not start")
        office = Office(world, port, stream_port)
        roots = {"web": pid, "stream": streamer.pid}
        rows.append(measure("pushing", world, office, given, roots))
    finally:
        streamer.terminate()
        streamer.wait()
    rig.end("web")
    failures = [f"{row['way']}: {why}" for row in rows[:1] for why in broken(row)]
    figures = {"desks": given.desks, "comments_per_s": given.comments, "ways": rows}
    return Outcome(table=table(rows), figures=figures, failures=failures)


def measure(
    way: str, world: World, office: Office, given: argparse.Namespace, roots: dict[str, int]
) -> dict[str, Any]:
    """Nothing happens at first, but for the desks' coming; then the company writes."""
    shares = {}
    for name, comments in (("coming", 0.0), ("quiet", 0.0), ("busy", given.comments)):
        say(f"{way}: {name}")
        office.asked = 0
        meter = cpu.Meter({**roots, "postgres": postgres()})
        lasting = 5.0 if name == "coming" else given.seconds
        asyncio.run(office.work(lasting, comments))
        used, lasted = meter.read()
        shares[name] = {part: round(100 * each / lasted, 2) for part, each in used.items()}
        shares[name]["asked_per_s"] = round(office.asked / lasted, 1)
    return {
        "way": way,
        "quiet_percent": shares["quiet"],
        "busy_percent": shares["busy"],
        "seen": len(office.seconds),
        "seen_ms": in_ms(office.seconds, 0),
    }


def broken(row: dict[str, Any]) -> list[str]:
    """The promises that are not kept."""
    found = []
    if not row["seen_ms"] or row["seen_ms"]["p95"] > SEEN_WITHIN_MS:
        found.append(f"p95 is over {SEEN_WITHIN_MS:.0f} ms")
    if quiet(row) > MOST_PERCENT:
        found.append(f"{quiet(row):.1f} % of a core")
    return found


def quiet(row: dict[str, Any]) -> float:
    return sum(row["quiet_percent"].get(part, 0.0) for part in ("web", "stream", "postgres"))


def answers(port: int) -> bool:
    try:
        with Caller(port, ""):
            return True
    except OSError:
        return False


def database_address() -> str:
    found = settings.DATABASES["default"]
    parts = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST"}
    facts = {**{key: found.get(name, "") for key, name in parts.items()}, "port": found["PORT"]}
    return " ".join(f"{key}={value}" for key, value in facts.items() if value)


def table(rows: list[dict[str, Any]]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("", "seen p50 ms", "p95", "max", "quiet: web %", "stream", "PostgreSQL", "busy: web", "")
    ]
    for row in rows:
        ms, still, busy = row["seen_ms"], row["quiet_percent"], row["busy_percent"]
        times = (ms.get("p50"), ms.get("p95"), ms.get("max"))
        shares = (still["web"], still.get("stream", ""), still["postgres"], busy["web"])
        judged = verdict(not broken(row)) if row["way"] == "waiting" else ""
        lines.append((row["way"], *times, *shares, judged))
    return lines
