"""Plans of runs: what is published, operated, and what fails when.

A plan is a list of things with their times, so that a part of it can be left out: what is left of
a failing plan when nothing more can be left out is the story to read.
"""

import random
from typing import NamedTuple

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
    "commits": "COMMIT",
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
    "is busy": (200, 0.5, None, True, True),
    "is slow": (200, 3.0, None, True, True),
    "is very slow": (200, 4.9, None, True, True),
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


# Value of `which` for a trouble that waits for a moment: the loop that reaches it first.
ANY_LOOP = 12


class Thing(NamedTuple):
    """Something that happens: when, what, for how long, and to which of several."""

    at: float
    what: str
    seconds: float = 0.0
    which: int = 0
    how: str = ""
    dice: int = 0


class Plan(NamedTuple):
    """`calm_at`: from then on nothing fails any more. `linger`: for how long a loop that has found
    something looks again every few milliseconds; less makes a run quicker. `small`: the engine's
    sizes are those of `process.SMALL`, so that six webhooks are many. `subjects`: how many a
    company has. `claim_seconds`: how long a claim lasts.
    """

    seed: int
    loops: int
    calm_at: float
    linger: float
    things: tuple[Thing, ...]
    small: bool = False
    subjects: int = 3
    claim_seconds: float = 30.0

    def without(self, left_out: set[int]) -> "Plan":
        """The plan without the things of these places."""
        kept = (each for place, each in enumerate(self.things) if place not in left_out)
        return self._replace(things=tuple(kept))


def roll(dice: random.Random) -> int:
    return dice.randrange(2**32)
