"""Play the catalogue in order, and report how many of the faults were survived.

A fault is survived if every scenario and every test that plays it passes. Faults that this machine
cannot play are listed with the reason and not counted.
"""

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from tools.dev.guard import Stop, guarded, ignore_signals
from tools.faults.book import BOOK
from tools.faults.book.fault import Fault
from tools.faults.plays import Played, Plays

SURVIVED, BROKEN, NOT_PLAYED = "survived", "NOT SURVIVED", "not played"


class Outcome(NamedTuple):
    """Broken promises of a fault, by scenario or test; or the reason why it was not played."""

    fault: Fault
    broken: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def word(self) -> str:
        if self.broken:
            return BROKEN
        return NOT_PLAYED if self.why_not else SURVIVED


def run(arguments: Sequence[str]) -> int:
    """Play the catalogue; return 0 if all played faults were survived. Leaves nothing running."""
    return guarded(partial(work, options(arguments)))


def options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/faults/run all", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the scenarios (%(default)s)")
    parser.add_argument(
        "--only", nargs="+", metavar="FAULT", default=[], help="these faults or groups: A16 D"
    )
    parser.add_argument("--json", action="store_true", help="the outcomes as JSON on stdout")
    args = parser.parse_args(arguments)
    names = {name for fault in BOOK for name in (fault.number, fault.group)}
    if unknown := set(args.only) - names:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    return args


def work(args: argparse.Namespace) -> int:
    chosen = [
        fault for fault in BOOK if not args.only or {fault.number, fault.group} & set(args.only)
    ]
    with Plays(args.seed, chosen, tell) as plays:
        try:
            outcomes = play_all(chosen, plays.play, tell)
        except Stop:
            tell("stopped")
            return 1
        finally:
            ignore_signals()
    if args.json:
        print(json.dumps(as_json(outcomes), indent=2))
    else:
        print("\n".join(summary(outcomes)))
    return 1 if any(outcome.broken for outcome in outcomes) else 0


def play_all(
    faults: Sequence[Fault], play: Callable[[str], Played], tell: Callable[[str], None]
) -> list[Outcome]:
    """Play each fault in turn; scenarios and tests that several faults share run once."""
    outcomes = []
    for place, fault in enumerate(faults, start=1):
        outcome = judge(fault, play)
        tell(f"[{place}/{len(faults)}] {fault.number} {fault.what}: {outcome.word}")
        outcomes.append(outcome)
    return outcomes


def judge(fault: Fault, play: Callable[[str], Played]) -> Outcome:
    if fault.why_not:
        return Outcome(fault, why_not=fault.why_not)
    if not fault.plays:
        return Outcome(fault, broken=("nothing plays it",))
    played = {name: play(name) for name in fault.plays}
    broken = tuple(f"{name}: {line}" for name, result in played.items() for line in result.broken)
    why_not = "; ".join(result.why_not for result in played.values() if result.why_not)
    return Outcome(fault, broken, why_not)


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """List faults not played, then broken ones, and last the number of survived ones."""
    lines = [
        f"not played: {each.fault.number} {each.fault.what}: {each.why_not}"
        for each in outcomes
        if each.word == NOT_PLAYED
    ]
    for each in outcomes:
        if each.broken:
            lines.append(f"not survived: {each.fault.number} {each.fault.what}")
            lines += [f"  {line}" for line in each.broken]
    survived, total = count(outcomes)
    return [*lines, f"survived {survived}/{total}"]


def count(outcomes: Sequence[Outcome]) -> tuple[int, int]:
    """Return the numbers of survived and of played faults."""
    words = [each.word for each in outcomes]
    return words.count(SURVIVED), len(words) - words.count(NOT_PLAYED)


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    survived, total = count(outcomes)
    return {
        "survived": survived,
        "of": total,
        "faults": [
            {
                "number": each.fault.number,
                "what": each.fault.what,
                "outcome": each.word.lower(),
                "broken": list(each.broken),
                "why_not": each.why_not,
            }
            for each in outcomes
        ],
    }


def tell(line: str) -> None:
    # The reader of the pipe may have closed it.
    with contextlib.suppress(BrokenPipeError):
        print(f"faults: {line}", file=sys.stderr, flush=True)
