"""Run the engine from one seed after the other, until one run breaks a promise.

Of that one the plan is made as small as it can be, and its last steps are told. The same seed gives
the same run, to the byte.
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
# A step is cut to so many; the file of `--story` has it whole.
TOLD_CHARACTERS = 200
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
    """0 when every promise is kept, 1 when not; `folder` is one that the server can look into."""
    given = options(arguments)
    call_command("migrate", verbosity=0)
    world = World(folder)
    try:
        return simulate(given, world)
    finally:
        world.close()


def simulate(given: argparse.Namespace, world: World) -> int:
    began, said, deliveries, seed = time.monotonic(), 0.0, 0, given.first
    for seed in range(given.first, given.first + given.seeds):
        story, broken = play(drawn(seed), world, story=given.story is not None)
        deliveries += sum(each["what"] == "dialled" for each in story)
        if given.story:
            given.story.write_text("".join(map(line, story)))
        if broken:
            return tell_broken(seed, world, broken)
        spent = time.monotonic() - began
        if spent - said >= SAY_EVERY_SECONDS:
            said = spent
            say(progress(seed - given.first + 1, given.seeds, deliveries, spent))
        if given.minutes and spent >= 60 * given.minutes:
            break
    done = seed - given.first + 1
    say(progress(done, given.seeds, deliveries, time.monotonic() - began))
    say("every promise was kept")
    return 0


def play(plan: Plan, world: World, *, story: bool = False) -> tuple[list[Entry], list[str]]:
    """Return what happened, and the promises that were not kept."""
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
    told = [each for each in story if each["what"] != "asks"]
    print(f"the last {LAST_STEPS} of its {len(told)} steps, without {len(story) - len(told)} asks")
    for step in told[-LAST_STEPS:]:
        print(textwrap.shorten(line(step), TOLD_CHARACTERS))
    for each in broken:
        print(f"broken: {each}")
    print(f"as a test keeps it: {plan!r}")
    print(f"sha256 of the whole story: {hashlib.sha256(text.encode()).hexdigest()}")
    print(f"again: ./dev simulate --seeds 1 --from {seed} --story FILE")
    return 1


def shrunk(plan: Plan, world: World) -> Plan:
    """The plan without whatever it can do without and still break a promise.

    By halves first, then by quarters: most of a plan has nothing to do with the promise.
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
    """An entry of the ledger, as it stands in the story."""
    facts = {name: fact for name, fact in entry.items() if name not in ("at", "what")}
    return f"{entry['at']:11.6f}  {entry['what']:9} {json.dumps(facts)}\n"


def progress(done: int, of: int, deliveries: int, seconds: float) -> str:
    pace = done / max(seconds, 0.001)
    return f"{done:,} of {of:,} runs, {deliveries:,} requests, {pace:.1f} runs a second"


def say(text: str) -> None:
    print(f"simulate: {text}", file=sys.stderr, flush=True)
