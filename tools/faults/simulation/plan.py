"""Plans of runs, drawn from seeds: what is published, operated, and what fails when.

A plan is a list of things with their times, so that a part of it can be left out: what is left of
a failing plan when nothing more can be left out is the story to read.
"""

import random
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

Kind = TypeVar("Kind")

WEBHOOKS = 6
SUBJECTS = 3
LADDER = (2.0, 4.0, 8.0)
# The beginnings of a loop's statements, by what they do.
STATEMENTS = {
    "renews": "UPDATE deliveries_loop",
    "takes": "WITH oldest",
    "claims": "WITH turn",
    "records": "WITH result",
    "releases": "WITH released",
    "takes over": "WITH lost",
    "begins anew": "WITH own",
}
# Behaviours of a receiver: status, seconds until it answers at most, Retry-After, whether it sees
# the request and whether its answer is heard.
MOODS: dict[str, tuple[int | None, float, int | None, bool, bool]] = {
    "refuses": (None, 0.05, None, False, False),
    "swallows": (None, 9.0, None, False, False),
    "hangs": (None, 9.0, None, True, False),
    "breaks": (None, 0.1, None, True, False),
    "loses answers": (200, 0.05, None, True, False),
    "errors": (500, 0.05, None, True, True),
    "is slow": (200, 3.0, None, True, True),
    "asks for rest": (503, 0.05, 4, True, True),
    "is gone": (410, 0.05, None, True, True),
}
# The moment of a loop at which it is killed or frozen, or its statement is lost: what the network
# just did for it, or what it just asked the database. "" is the time that the plan says.
MOMENTS = ("", "", "sent", "seen", "ended", *STATEMENTS)
FAULTS = {
    "kill": 6,
    "kill host": 2,
    "freeze": 7,
    "restart": 3,
    "lines break": 4,
    "line breaks": 5,
    "database away": 2,
    "database slow": 3,
    "broker away": 3,
    "clock": 2,
    "receiver": 10,
}
ACTS = {
    "pause": 3,
    "hold": 2,
    "drain": 2,
    "rotate": 3,
    "redeliver": 4,
    "recover": 2,
    "limit": 2,
    "delete": 1,
    "company off": 1,
    "erase": 1,
    "sweep": 3,
    "partitions": 1,
}


# A statement is lost before it arrives, its answer is lost, or both ends wait for each other.
BREAKS = ("before", "after", "hangs")
# Seconds that a fault lasts.
LENGTHS = (0.2, 1.0, 2.5, 5.0, 9.0)


class Thing(NamedTuple):
    """Something that happens: when, what, for how long, and to which of several."""

    at: float
    what: str
    seconds: float = 0.0
    which: int = 0
    how: str = ""
    dice: int = 0


class Kinds(NamedTuple):
    """Names of what there is in one run, those of faults and acts with their weights."""

    faults: list[tuple[str, int]]
    acts: list[tuple[str, int]]
    moods: list[str]
    moments: list[str]
    breaks: list[str]
    statements: list[str]
    lengths: list[float]


class Plan(NamedTuple):
    """`calm_at`: from then on nothing fails any more. `linger`: for how long a loop that has found
    something looks again every few milliseconds; less makes a run quicker.
    """

    seed: int
    loops: int
    calm_at: float
    linger: float
    things: tuple[Thing, ...]

    def without(self, left_out: set[int]) -> "Plan":
        """The plan without the things of these places."""
        kept = (each for place, each in enumerate(self.things) if place not in left_out)
        return self._replace(things=tuple(kept))


def drawn(seed: int) -> Plan:
    """The plan of a seed."""
    dice = random.Random(seed)  # noqa: S311 - a simulation
    calm_at = dice.uniform(6.0, 30.0)
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
    linger = dice.choices((0.03, 2.0), (9, 1))[0]
    return Plan(seed, dice.choice((1, 2, 2, 3, 3)), calm_at, linger, tuple(sorted(things)))


def some(of: Iterable[Kind], dice: random.Random) -> list[Kind]:
    """Draw a few of them, or all: what all happens at once hides what one of them breaks."""
    found = list(of)
    return dice.sample(found, min(dice.choice((1, 2, 3, len(found))), len(found)))


def publication(dice: random.Random, calm_at: float) -> Thing:
    """Events in one transaction, which may take its time or be rolled back."""
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


def roll(dice: random.Random) -> int:
    return dice.randrange(2**32)
