"""Plans of runs: publications, acts and faults, with their times.

A plan is a list of things with their times, parts of which can be left out: a failing plan is
reduced until no further part can be left out.
"""

import random
from typing import NamedTuple

LADDER = (2.0, 4.0, 8.0)
# Beginnings of a loop's statements, by purpose.
STATEMENTS = {
    "renews": "WITH beat",
    "takes": "WITH oldest",
    "claims": "WITH turn",
    "records": "WITH result",
    "releases": "WITH released",
    "takes over": "WITH silent",
    "begins anew": "WITH own",
    "commits": "COMMIT",
}
# Behaviours of a receiver: status, largest delay in seconds, Retry-After, and whether the request
# and its answer arrive.
MOODS: dict[str, tuple[int | None, float, int | None, bool, bool]] = {
    "refuses": (None, 0.05, None, False, False),
    "swallows": (None, 9.0, None, False, False),
    "hangs": (None, 9.0, None, True, False),
    "breaks": (None, 0.1, None, True, False),
    "loses answers": (200, 0.05, None, True, False),
    "errors": (500, 0.05, None, True, True),
    "is busy": (200, 0.5, None, True, True),
    "is slow": (200, 3.0, None, True, True),
    "is very slow": (200, 4.9, None, True, True),
    "asks for rest": (503, 0.05, 4, True, True),
    "is gone": (410, 0.05, None, True, True),
}
# Moments at which a loop is killed or frozen, or its statement is lost: after a step of the
# network, or at a statement. "" is the planned time.
MOMENTS = ("", "", "sent", "seen", "ended", *STATEMENTS)
FAULTS = {
    "kill": 6,
    "kill host": 2,
    "late statement": 3,
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


# Ways in which a statement fails: it is lost, its answer is lost, or the connection hangs.
BREAKS = ("before", "after", "hangs")
# Durations of faults in seconds.
LENGTHS = (0.2, 1.0, 2.5, 5.0, 9.0)


# Value of `which` for the first loop that reaches a fault's moment.
ANY_LOOP = 12


class Thing(NamedTuple):
    """Planned happening: time, name, duration, and its target among several."""

    at: float
    what: str
    seconds: float = 0.0
    which: int = 0
    how: str = ""
    dice: int = 0


class Plan(NamedTuple):
    """Plan of a run.

    `calm_at` is the end of all faults. `linger` is the time for which a loop that has found work
    polls every few milliseconds; less makes a run faster. `small` sets the engine's sizes to
    `process.SMALL`, so that six webhooks are many. `subjects` is their number per company, and
    `claim_seconds` the duration of a claim. `latency` is the longest time that a statement takes to
    arrive, and its answer, while the database is well. With `long_looks`, looks from the beginning
    are taken in slices, as they are beside a transaction that stays open.
    """

    seed: int
    loops: int
    calm_at: float
    linger: float
    things: tuple[Thing, ...]
    small: bool = False
    subjects: int = 3
    claim_seconds: float = 30.0
    latency: float = 0.003
    long_looks: bool = False

    def without(self, left_out: set[int]) -> "Plan":
        """Return the plan without the things at these indexes."""
        remaining = (each for place, each in enumerate(self.things) if place not in left_out)
        return self._replace(things=tuple(remaining))


def roll(dice: random.Random) -> int:
    return dice.randrange(2**32)
