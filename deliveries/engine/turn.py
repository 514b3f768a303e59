"""Work of a loop in one turn at the database, and its outcome."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deliveries.engine import judging
from deliveries.engine.lanes import Woken
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.recording import AttemptResult


@dataclass(slots=True)
class ClaimBatch:
    """A request to claim deliveries, and its outcome.

    `rooms`: maximum per webhook. `addresses`: of the webhooks that may be sent to. `more`: webhooks
    that may have further due deliveries. `keep`: seconds for which to keep idle webhooks whose
    claim from the beginning took long.
    """

    rooms: dict[int, int] = field(default_factory=dict)
    addresses: dict[int, Address] = field(default_factory=dict)
    claimed: list[Claimed] = field(default_factory=list)
    more: set[int] = field(default_factory=set)
    keep: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class Turn:
    """Work of one turn, and its outcome.

    Input: `gone_webhooks`: to pause after a 410. `silenced`: webhooks whose receivers want no more
    requests, according to `results`. `back`: deliveries to give back. `to_transfer`: webhooks for
    other loops. `lanes`: number of lanes of this loop; if it is `pressed`, others get some, and if
    it `hands_back`, the first loop gets the idle ones. `on_wake` is called with the webhooks that
    woke up and returns how many deliveries to claim first, by webhook; `on_claim` gets these at
    once, so that they are sent during the turn.

    Outcome: `plenty`: more webhooks may wake up at once. `surplus`: number of lanes to transfer.
    """

    results: list[AttemptResult] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)
    gone_webhooks: set[int] = field(default_factory=set)
    silenced: set[int] = field(default_factory=set)
    back: list[Claimed] = field(default_factory=list)
    released: list[int] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    to_transfer: list[int] = field(default_factory=list)
    lanes: int = 0
    pressed: bool = False
    hands_back: bool = False
    on_wake: Callable[[Sequence[Woken]], dict[int, int]] | None = None
    on_claim: Callable[[ClaimBatch], None] = lambda claims: None
    firsts: ClaimBatch = field(default_factory=ClaimBatch)
    claims: ClaimBatch = field(default_factory=ClaimBatch)
    listening: bool = False

    woken: list[Woken] = field(default_factory=list)
    plenty: bool = False
    recorded: int = 0
    surplus: int = 0

    def take_results(self, results: list[AttemptResult], most: int) -> list[AttemptResult]:
        """Record the first `most` of the results in this turn; returns the others."""
        self.results = results[:most]
        self.gone_webhooks = {
            each.webhook_id for each in self.results if each.status == judging.HTTP_GONE
        }
        return results[most:]

    @property
    def writes(self) -> bool:
        return bool(self.results or self.back or self.released or self.to_transfer)
