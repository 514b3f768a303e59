"""Runs of the engine from successive seeds, until one breaks a promise.

Its plan is then reduced as far as possible, and its last steps are printed. The same seed gives the
same run, to the byte.
"""

import argparse
import hashlib
import json
import sys
import textwrap
import time
from pathlib import Path

from django.core.management import call_command

from tools.faults.simulation.book import Entry
from tools.faults.simulation.drawing import drawn
from tools.faults.simulation.judge import broken_promises
from tools.faults.simulation.plan import Plan
from tools.faults.simulation.run import Run
from tools.faults.simulation.world import World

LAST_STEPS = 50
# Steps are truncated to this many characters; the file of `--story` has them whole.
LONGEST_STEP = 200
SAY_EVERY_SECONDS = 2.0


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many: %(default)s")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="S", help="the first")
    parser.add_argument(
        "--minutes", type=float, default=0.0, metavar="M", help="stop after so long"
    )
    parser.add_argument(
        "--story", type=Path, metavar="FILE", help="write every step of the last run"
    )
    return parser.parse_args(arguments)


def work(arguments: list[str], folder: Path) -> int:
    """Run the seeds; return 0 if every promise is kept, else 1. The server can read `folder`."""
    args = options(arguments)
    call_command("migrate", verbosity=0)
    world = World(folder)
    try:
        return simulate(args, world)
    finally:
        world.close()


def simulate(args: argparse.Namespace, world: World) -> int:
    began, last_report, deliveries, seed = time.monotonic(), 0.0, 0, args.first
    for seed in range(args.first, args.first + args.seeds):
        story, broken = play(drawn(seed), world, story=args.story is not None)
        deliveries += sum(each["what"] == "dialled" for each in story)
        if args.story:
            args.story.write_text("".join(map(line, story)))
        if broken:
            return tell_broken(seed, world, broken)
        spent = time.monotonic() - began
        if spent - last_report >= SAY_EVERY_SECONDS:
            last_report = spent
            say(progress(seed - args.first + 1, args.seeds, deliveries, spent))
        if args.minutes and spent >= 60 * args.minutes:
            break
    count = seed - args.first + 1
    say(progress(count, args.seeds, deliveries, time.monotonic() - began))
    say("every promise was kept")
    return 0


def play(plan: Plan, world: World, *, story: bool = False) -> tuple[list[Entry], list[str]]:
    """Play a plan; return its ledger and the broken promises."""
    ledger = Run(plan, world, story=story).play()
    return ledger, broken_promises(ledger)


def tell_broken(seed: int, world: World, broken: list[str]) -> int:
    say(f"seed {seed} breaks {len(broken)} promises: {broken[0]}")
    plan = shrunk(drawn(seed), world)
    story, broken = play(plan, world, story=True)
    text = "".join(map(line, story))
    say(f"the smallest plan that does: {len(plan.things)} things, {plan.loops} loops")
    for each in plan.things:
        print(f"  {each.at:9.3f}  {each.what} {each.how} {each.seconds:g} s, which {each.which}")
    steps = [each for each in story if each["what"] != "asks"]
    print(
        f"the last {LAST_STEPS} of its {len(steps)} steps, without {len(story) - len(steps)} asks"
    )
    for step in steps[-LAST_STEPS:]:
        print(textwrap.shorten(line(step), LONGEST_STEP))
    for each in broken:
        print(f"broken: {each}")
    print(f"as a test keeps it: {plan!r}")
    print(f"sha256 of the whole story: {hashlib.sha256(text.encode()).hexdigest()}")
    print(f"again: ./dev simulate --seeds 1 --from {seed} --story FILE")
    return 1


def shrunk(plan: Plan, world: World) -> Plan:
    """Reduce a plan to things without which it would break no promise.

    It drops halves first, then quarters and so on, as most of a plan is irrelevant.
    """
    size = len(plan.things)
    while size > 1:
        size = -(-size // 2)
        for end in range(len(plan.things), 0, -size):
            smaller = plan.without(set(range(max(end - size, 0), end)))
            if play(smaller, world)[1]:
                plan = smaller
    return plan


def line(entry: Entry) -> str:
    """Format an entry of the ledger as a line of the story."""
    facts = {name: fact for name, fact in entry.items() if name not in ("at", "what")}
    return f"{entry['at']:11.6f}  {entry['what']:9} {json.dumps(facts)}\n"


def progress(count: int, of: int, deliveries: int, seconds: float) -> str:
    pace = count / max(seconds, 0.001)
    return f"{count:,} of {of:,} runs, {deliveries:,} requests, {pace:.1f} runs a second"


def say(text: str) -> None:
    print(f"simulate: {text}", file=sys.stderr, flush=True)
