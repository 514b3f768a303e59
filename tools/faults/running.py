"""One run of a scenario on servers of its own: its options, its figures, and what they break."""

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
from functools import partial

from tools.dev.guard import Stop, guarded, turn_deaf
from tools.dev.places import Place
from tools.faults.catalogue import SCENARIOS
from tools.faults.rig import Rig
from tools.faults.verdict import NotHere


def run(arguments: list[str], place: Place) -> int:
    """0 when every promise is kept, 1 when not; the figures are JSON on stdout.

    Told to stop, or killed, it leaves no process and no folder behind.
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


def work(given: argparse.Namespace, place: Place) -> int:
    start = time.monotonic()
    try:
        with Rig(place).up() as rig:
            say(f"{given.scenario}, on servers of its own")
            found, troubles = SCENARIOS[given.scenario][0](rig, given)
    except Stop:
        say("stopped")
        return 1
    except NotHere as reason:
        found, troubles = {"why_not": str(reason)}, []
    except TimeoutError as trouble:
        found, troubles = {}, [str(trouble)]
        say_last_words(place)
    finally:
        turn_deaf()
        # The half of us that would do this may have been killed.
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)
    found |= {
        "broken": troubles,
        "seconds": round(time.monotonic() - start, 1),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(found, indent=2))
    for trouble in troubles:
        say(trouble)
    if reason := found.get("why_not"):
        say(f"not played: {reason}")
    else:
        say("NOT BALANCED" if troubles else "balanced")
    return 1 if troubles else 0


def say(line: str) -> None:
    # Whoever read this may be gone.
    with contextlib.suppress(BrokenPipeError):
        print(f"faults: {line}", file=sys.stderr, flush=True)


def say_last_words(place: Place) -> None:
    """The ends of what the processes have said; there is no looking at it later."""
    for log in sorted(place.logs.glob("*.log")):
        for line in log.read_text(errors="replace").splitlines()[-5:]:
            say(f"{log.stem}: {line}")
