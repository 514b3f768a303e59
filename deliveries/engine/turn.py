"""What a loop has done for it in one turn at the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deliveries.engine import judging
from deliveries.engine.lanes import Woken
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.recording import AttemptResult


@dataclass(slots=True)
class ClaimBatch:
    """`rooms`: how many to claim at most, by webhook; and what came of it.

    `addresses`: of those that may be sent to. `more`: webhooks of which there may be more.
    """

    rooms: dict[int, int] = field(default_factory=dict)
    addresses: dict[int, Address] = field(default_factory=dict)
    claimed: list[Claimed] = field(default_factory=list)
    more: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Turn:
    """What is to be done, and what came of it.

    `silenced`: webhooks whose receiver wants silence, which its results say. `given`: webhooks for
    other loops. `lanes`: how many this one has; where it is `pressed`, others get some, and where
    it `hands_back`, the first loop gets all. `hear` is told who has woken up and says what of it is
    claimed first; `enter` is given that at once, so that it is sent while the turn goes on.
    `plenty`: more may wake up at once. `surplus`: how many lanes are too many.
    """

    results: list[AttemptResult] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    silenced: set[int] = field(default_factory=set)
    back: list[Claimed] = field(default_factory=list)
    released: list[int] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    lanes: int = 0
    pressed: bool = False
    hands_back: bool = False
    hear: Callable[[Sequence[Woken]], dict[int, int]] | None = None
    enter: Callable[[ClaimBatch], None] = lambda claims: None
    firsts: ClaimBatch = field(default_factory=ClaimBatch)
    claims: ClaimBatch = field(default_factory=ClaimBatch)
    listening: bool = False

    woken: list[Woken] = field(default_factory=list)
    plenty: bool = False
    recorded: int = 0
    surplus: int = 0

    def take_results(self, results: list[AttemptResult], most: int) -> list[AttemptResult]:
        """Have so many of them recorded; returns the others."""
        self.results = results[:most]
        self.gone = {each.webhook_id for each in self.results if each.status == judging.GONE}
        return results[most:]

    @property
    def writes(self) -> bool:
        return bool(self.results or self.back or self.released or self.given)
