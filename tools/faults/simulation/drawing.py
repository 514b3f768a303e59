"""Plans drawn from seeds: a scene, or random publications, faults and acts."""

import random
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from tools.faults.simulation.plan import (
    ACTS,
    BREAKS,
    FAULTS,
    LENGTHS,
    MOMENTS,
    MOODS,
    STATEMENTS,
    Plan,
    Thing,
    roll,
)
from tools.faults.simulation.scenes import SCENES, SHORT_CLAIM_SECONDS

Kind = TypeVar("Kind")

# Seeds play the scenes in turn, and random things in three runs of ten. Share of the scenes with
# further faults.
TURNS = round(len(SCENES) / 0.7)
DISTURBED_PART = 0.15
# Share of runs with a slower way to the database, and its longest seconds in each direction. More
# seconds would make turns late without a fault; so would these with small sizes, as work takes more
# turns then.
FAR_PART, FAR_SECONDS = 0.33, 0.01
# Every so many seeds have long looks. It has no divisor in common with TURNS, so all scenes do.
LONG_LOOKS = 7
# Share of runs with small sizes of the engine.
SMALL_PART = 0.25


class Kinds(NamedTuple):
    """Names used in a run, those of faults and acts with their weights."""

    faults: list[tuple[str, int]]
    acts: list[tuple[str, int]]
    moods: list[str]
    moments: list[str]
    breaks: list[str]
    statements: list[str]
    lengths: list[float]


def drawn(seed: int) -> Plan:
    """Draw the plan of a seed."""
    dice = random.Random(seed)  # noqa: S311 - a simulation
    linger = dice.choices((0.03, 2.0), (9, 1))[0]
    loops = dice.choice((1, 2, 2, 3, 3))
    calm_at = dice.uniform(6.0, 30.0)
    small = dice.random() < SMALL_PART
    plan = Plan(seed, loops, calm_at, linger, (), small, long_looks=seed % LONG_LOOKS == 0)
    is_far = dice.random() < FAR_PART
    if seed % TURNS >= len(SCENES):
        things = anything(dice, calm_at)
    else:
        plan = SCENES[seed % TURNS](dice, plan)
        things = list(plan.things)
        if dice.random() < DISTURBED_PART and plan.claim_seconds != SHORT_CLAIM_SECONDS:
            things += [each for each in anything(dice, plan.calm_at) if each.what != "publish"][:3]
    latency = FAR_SECONDS if is_far and not plan.small else plan.latency
    return plan._replace(things=tuple(sorted(things)), latency=latency)


def anything(dice: random.Random, calm_at: float) -> list[Thing]:
    """Draw publications, and faults and acts of a few kinds or of all."""
    kinds = Kinds(
        faults=[(kind, FAULTS[kind]) for kind in some(FAULTS, dice)],
        acts=[(kind, ACTS[kind]) for kind in some(ACTS, dice)],
        moods=some(MOODS, dice),
        moments=some(MOMENTS, dice),
        breaks=some(BREAKS, dice),
        statements=some(STATEMENTS, dice),
        lengths=some(LENGTHS, dice),
    )
    busy = dice.choice((1, 1, 3))
    things = [publication(dice, calm_at) for _ in range(busy * dice.randint(4, 24))]
    most = dice.choice((0, 4, 7, 12))
    things += [fault(dice, calm_at, kinds) for _ in range(dice.randint(0, most))]
    things += [act(dice, calm_at, kinds) for _ in range(dice.randint(0, 5))]
    return things


def some(of: Iterable[Kind], dice: random.Random) -> list[Kind]:
    """Draw a few kinds, or all: too many at once hide what one of them breaks."""
    kinds = list(of)
    return dice.sample(kinds, min(dice.choice((1, 2, 3, len(kinds))), len(kinds)))


def publication(dice: random.Random, calm_at: float) -> Thing:
    """Draw events of one transaction, which may be slow or rolled back."""
    how = dice.choices(("commits", "rolls back"), (9, 1))[0]
    seconds = dice.choice((0.0, 0.0, 0.0, 0.1, 3.0))
    return Thing(dice.uniform(0, calm_at), "publish", seconds, dice.randint(1, 6), how, roll(dice))


def fault(dice: random.Random, calm_at: float, kinds: Kinds) -> Thing:
    what = weighed(kinds.faults, dice)
    seconds = dice.choice(kinds.lengths)
    how = ""
    if what == "receiver":
        how, seconds = dice.choice(kinds.moods), seconds * 2
    if what in ("kill", "freeze"):
        how = dice.choice(kinds.moments)
    if what == "late statement":
        how = dice.choice(kinds.statements)
    if what == "lines break":
        how = dice.choice(kinds.breaks)
    if what == "line breaks":
        how = f"{dice.choice(kinds.breaks)} {dice.choice(kinds.statements)}"
    return Thing(dice.uniform(0, calm_at), what, seconds, dice.randint(0, 11), how, roll(dice))


def act(dice: random.Random, calm_at: float, kinds: Kinds) -> Thing:
    what = weighed(kinds.acts, dice)
    seconds = dice.choice((0.5, 2.0, 6.0))
    return Thing(dice.uniform(0, calm_at), what, seconds, dice.randint(0, 11), "", roll(dice))


def weighed(kinds: list[tuple[str, int]], dice: random.Random) -> str:
    return dice.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
