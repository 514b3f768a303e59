"""Run of a scenario: its options, its servers, its figures, and where they are stored."""

import argparse
import shlex
import shutil
from collections.abc import Sequence
from functools import partial
from types import ModuleType

from django.core.management import call_command
from django.db import connection

from tools.bench import machine, results
from tools.bench.outcome import Outcome
from tools.bench.progress import say
from tools.bench.results import Result
from tools.bench.rig import Rig
from tools.bench.scenarios import (
    api,
    desk,
    drain,
    hour,
    idle,
    lanes,
    latency,
    live,
    neighbours,
    snapshot,
)
from tools.dev.guard import Stop, guarded, ignore_signals
from tools.dev.places import Place
from tools.dev.postgres import Postgres, use_programs
from tools.dev.servers import Server
from tools.dev.trouble import UsageError
from tools.dev.valkey import Valkey

SCENARIOS: dict[str, ModuleType] = {
    "drain": drain,
    "live": live,
    "desk": desk,
    "neighbours": neighbours,
    "latency": latency,
    "lanes": lanes,
    "idle": idle,
    "api": api,
    "hour": hour,
    "snapshot": snapshot,
}

LAST_WORDS = 5


def main(name: str, arguments: Sequence[str], place: Place) -> int:
    """Run a scenario; return 1 if its figures are void, break a promise or are missing, else 0."""
    args = options(name, arguments)
    return guarded(partial(work, name, args, place))


def options(name: str, arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"tools/bench/{name}",
        description=SCENARIOS[name].__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    SCENARIOS[name].add_options(parser)
    parser.add_argument(
        "--postgresql",
        metavar="FOLDER",
        help="with the programs of the PostgreSQL to measure on; without it, the one that ./dev"
        " brings, or PG_BIN",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep the figures in tools/bench/results, and their picture",
    )
    args = parser.parse_args(arguments)
    shown_arguments = [argument for argument in arguments if argument != "--write"]
    args.command = shlex.join([f"tools/bench/{name}", *shown_arguments])
    return args


def work(name: str, args: argparse.Namespace, place: Place) -> int:
    servers: list[Server] = []
    try:
        outcome, facts = measure(name, args, place, servers)
    except Stop:
        return 1
    except (UsageError, TimeoutError) as trouble:
        say(str(trouble))
        for line in last_words(place):
            say(line)
        return 1
    finally:
        ignore_signals()
        connection.close()
        for server in reversed(servers):
            server.stop()
        # The guard half of this process, which would do this, may have been killed.
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)
    outcome.show()
    if args.write and not outcome.troubles:
        results.keep(name, Result(args.command, facts, outcome.figures))
    return 1 if outcome.troubles or outcome.failures else 0


def last_words(place: Place) -> list[str]:
    """Return the last lines of each process's log, which is deleted at the end."""
    return [
        f"{log.stem}: {line}"
        for log in sorted(place.logs.glob("*.log"))
        for line in log.read_text(errors="replace").splitlines()[-LAST_WORDS:]
    ]


def measure(
    name: str, args: argparse.Namespace, place: Place, servers: list[Server]
) -> tuple[Outcome, machine.Facts]:
    """Start the servers and measure; the caller stops what is in `servers`."""
    if args.postgresql:
        use_programs(args.postgresql)
    say("starting PostgreSQL and Valkey")
    for server in (Postgres(place), Valkey(place)):
        servers.append(server)
        server.start_and_wait()
    call_command("migrate", verbosity=0)
    facts = machine.facts(place.files)
    if machine.is_busy(facts):
        say(f"the machine is busy: its load is {facts['load_before']}, so times say little")
    with Rig({}, place.files) as rig:
        return SCENARIOS[name].run(args, rig), facts
