"""Cost of API requests, compared with plain views of REST framework in the same web process.

The plain views look the token up by its digest and insert one row, or read the rows that the
service's own views read, through the same server, middleware and database. Batches of both are
requested in turns. CPU time is that of the web process and of PostgreSQL. Judged: opening a ticket
costs at most 3 times as much as the plain insert, reading at most 1.5 times.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from tools.bench import cpu
from tools.bench.api_rows import World, hear_of_tickets, make_world
from tools.bench.callers import Caller, Question, storm
from tools.bench.measure import in_ms
from tools.bench.outcome import Outcome, Table, verdict
from tools.bench.progress import say, until
from tools.bench.rig import Rig, postgres
from tools.dev.ports import choose_port

OPENING, READING = 3.0, 1.5
CLIENTS = 16
FIRST_PORT = 8700
Ask = Callable[[Question, int], object]
Meter = Callable[[], dict[str, float]]


class Pair(NamedTuple):
    """Request to the service, and the same to a plain view."""

    words: str
    ours: Question
    plain: Question
    at_most: float


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5, help="turns of each pair, of")
    parser.add_argument("--requests", type=int, default=300, help="requests each")
    parser.add_argument("--storm", type=int, default=3000, help="tickets of 16 clients, with each")
    parser.add_argument(
        "--processes", type=int, nargs="*", default=[1, 2, 4], help="number of web processes"
    )


def pairs(world: World) -> list[Pair]:
    ticket = world.ticket_id
    return [
        Pair(
            "POST a ticket",
            Question("POST", "/company/tickets", world.ticket),
            Question("POST", "/plain/tickets", world.ticket),
            OPENING,
        ),
        *(
            Pair(words, Question("GET", ours), Question("GET", plain), READING)
            for words, ours, plain in (
                ("GET a ticket", f"/company/tickets/{ticket}", f"/plain/tickets/{ticket}"),
                ("GET 20 tickets", "/company/tickets", "/plain/tickets"),
                ("GET the webhooks", "/webhooks", "/plain/webhooks"),
            )
        ),
    ]


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    needed = 3 * args.rounds * args.requests + (len(args.processes) + 1) * args.storm
    say("making shipments, tickets, agents and webhooks")
    world = make_world(shipments=needed + args.requests)
    with Web(rig, processes=1) as web, Caller(web.port, world.token) as caller:
        say("asking in turns")
        rows = compare(world, pairs(world), caller.ask, web.used, args.rounds, args.requests)
        if hear_of_tickets(world.company):
            opening = [pairs(world)[0]._replace(words="POST a ticket, with its event")]
            rows += compare(world, opening, caller.ask, web.used, args.rounds, args.requests)
    storms = []
    for processes in args.processes:
        say(f"{CLIENTS} clients, {processes} web processes")
        with Web(rig, processes) as web:
            storms.append({"processes": processes, **crowd(web, world, args.storm)})
    figures = {"pairs": rows, "clients": CLIENTS, "storms": storms, "opened": world.opened()}
    failed = [f"{row['words']}: {row['ratio']} times" for row in rows if not row["ok"]]
    return Outcome(table=table(rows, storms), figures=figures, failures=failed)


class Web:
    """Web process of the Procfile, with plain views next to the service's."""

    def __init__(self, rig: Rig, processes: int) -> None:
        self.rig = rig
        self.processes = processes
        self.port = choose_port("PORT", None, FIRST_PORT)

    def __enter__(self) -> "Web":
        self.rig.service.environment |= {
            "DJANGO_SETTINGS_MODULE": "tools.bench.plain_api.settings",
            "WEB_CONCURRENCY": str(self.processes),
            "PORT": str(self.port),
            "RATE_LIMIT_READ": "1000000000",
            "RATE_LIMIT_WRITE": "1000000000",
        }
        self.rig.service.start("web")
        until(self.answers, "the web process did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.rig.end("web")

    def answers(self) -> bool:
        try:
            with Caller(self.port, ""):
                return True
        except OSError:
            return False

    def used(self) -> dict[str, float]:
        """Return CPU seconds so far."""
        roots = {"web": self.rig.service.processes["web"].pid, "postgres": postgres()}
        return cpu.of_trees(roots)


def compare(
    world: World, pairs: list[Pair], ask: Ask, used: Meter, rounds: int, requests: int
) -> list[dict[str, Any]]:
    """Measure each pair in turns; each number is requested once from each side."""
    rows, first = [], world.opened() + 1
    for pair in pairs:
        spent = {"ours": {"web": 0.0, "postgres": 0.0}, "plain": {"web": 0.0, "postgres": 0.0}}
        sides = {"ours": pair.ours, "plain": pair.plain}
        for question in sides.values():
            ask(question, first)
        for turn in range(rounds):
            for side, question in sides.items():
                before = used()
                for number in range(turn * requests, (turn + 1) * requests):
                    ask(question, first + 1 + number)
                after = used()
                for part in spent[side]:
                    spent[side][part] += after[part] - before[part]
        rows.append(row(pair, spent, rounds * requests))
    return rows


def row(pair: Pair, spent: dict[str, dict[str, float]], requests: int) -> dict[str, Any]:
    per_1000 = {
        side: {part: round(1000 * seconds / requests, 3) for part, seconds in parts.items()}
        for side, parts in spent.items()
    }
    ours, plain = (sum(spent[side].values()) for side in ("ours", "plain"))
    ratio = round(ours / plain, 2) if plain else 0.0
    return {
        "words": pair.words,
        "requests": requests,
        "cpu_s_per_1000": per_1000,
        "ratio": ratio,
        "at_most": pair.at_most,
        "ok": ratio <= pair.at_most,
    }


def crowd(web: Web, world: World, tickets: int) -> dict[str, Any]:
    """Measure tickets a second with all clients at once, and their response times."""
    question = Question("POST", "/company/tickets", world.ticket)
    each = tickets // CLIENTS
    first = world.opened() + 1
    shares = [range(first + each * turn, first + each * (turn + 1)) for turn in range(CLIENTS)]
    before = web.used()
    result = storm(web.port, world.token, question, shares)
    after = web.used()
    return {
        "tickets": each * CLIENTS,
        "tickets_per_s": round(each * CLIENTS / result.lasted, 1),
        "ms": in_ms(result.seconds),
        "cpu_s_per_1000": {
            part: round(1000 * (after[part] - before[part]) / (each * CLIENTS), 3) for part in after
        },
    }


def table(rows: list[dict[str, Any]], storms: list[dict[str, Any]]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("CPU s per 1000", "web", "PostgreSQL", "plain: web", "PostgreSQL", "times", "at most", "")
    ]
    for each in rows:
        ours, plain = each["cpu_s_per_1000"]["ours"], each["cpu_s_per_1000"]["plain"]
        limits = (each["ratio"], each["at_most"], verdict(each["ok"]))
        lines.append((each["words"], *ours.values(), *plain.values(), *limits))
    for each in storms:
        words = f"tickets/s, {each['processes']} web processes"
        ms = (f"p50 {each['ms'].get('p50')} ms", f"p99 {each['ms'].get('p99')} ms")
        lines.append((words, *each["cpu_s_per_1000"].values(), each["tickets_per_s"], *ms, "", ""))
    return lines
