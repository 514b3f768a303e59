"""Run of a scenario on its own servers: options, figures, and broken promises."""

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
from functools import partial

from tools.dev.guard import Stop, guarded, ignore_signals
from tools.dev.places import Place
from tools.faults.catalogue import SCENARIOS
from tools.faults.rig import Rig
from tools.faults.verdict import NotHere


def run(arguments: list[str], place: Place) -> int:
    """Run a scenario and print its figures as JSON; return 0 if every promise is kept, else 1.

    It leaves no process and no folder behind, even if it is killed.
    """
    return guarded(partial(work, options(arguments), place))


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/faults/run", description=__doc__)
    choices = parser.add_subparsers(dest="scenario", required=True)
    choices.add_parser("all", help="play the whole catalogue, in small", add_help=False)
    for name, (scenario, sizes) in SCENARIOS.items():
        chosen = choices.add_parser(name, help=scenario.__doc__, description=scenario.__doc__)
        for option, size in sizes.items():
            chosen.add_argument(f"--{option}", type=type(size), default=size, help="%(default)s")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace, place: Place) -> int:
    start = time.monotonic()
    try:
        with Rig(place).up() as rig:
            say(f"{args.scenario}, on servers of its own")
            figures, troubles = SCENARIOS[args.scenario][0](rig, args)
    except Stop:
        say("stopped")
        return 1
    except NotHere as reason:
        figures, troubles = {"why_not": str(reason)}, []
    except TimeoutError as trouble:
        figures, troubles = {}, [str(trouble)]
        say_last_words(place)
    finally:
        ignore_signals()
        # The guard half of this process, which would do this, may have been killed.
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)
    figures |= {
        "broken": troubles,
        "seconds": round(time.monotonic() - start, 1),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(figures, indent=2))
    for trouble in troubles:
        say(trouble)
    if reason := figures.get("why_not"):
        say(f"not played: {reason}")
    else:
        say("NOT BALANCED" if troubles else "balanced")
    return 1 if troubles else 0


def say(line: str) -> None:
    # The reader of the pipe may have closed it.
    with contextlib.suppress(BrokenPipeError):
        print(f"faults: {line}", file=sys.stderr, flush=True)


def say_last_words(place: Place) -> None:
    """Print the last lines of each process's log, which is deleted at the end."""
    for log in sorted(place.logs.glob("*.log")):
        for line in log.read_text(errors="replace").splitlines()[-5:]:
            say(f"{log.stem}: {line}")
