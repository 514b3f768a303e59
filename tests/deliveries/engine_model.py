"""Model of the engine's promises in a few dozen lines, for test_engine_machine."""

from collections.abc import Iterator
from dataclasses import dataclass, field

WAITING, DELIVERED, GIVEN_UP, CANCELLED = range(4)
# Seconds after the first, second, … failure, as the decisions have them.
RETRIES = (5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400)
HOUR, DAY = 3600.0, 86400.0
CLAIM_SECONDS = 30.0
LONGEST_REST = 300.0
# Bound of the difference, since the database's clock and ours are read one after the other.
SLACK = 0.9


@dataclass
class Receiver:
    """A webhook. `secret` signs now; `next_secret` from `next_at` on."""

    secret: str
    next_secret: str = ""
    next_at: float = 0.0
    active: bool = True
    deleted: bool = False
    failures: int = 0
    rests: int = 0
    rests_until: float = 0.0

    def signing(self, now: float) -> str:
        return self.next_secret if self.next_secret and now >= self.next_at else self.secret

    def note(self, now: float, *, ok: bool, silent: bool, retry_after: float) -> None:
        """Rest after three failures in a row without an answer, twice as long each time."""
        if ok:
            self.failures, self.rests, self.rests_until = 0, 0, 0.0
            return
        self.failures += 1
        if silent and self.failures >= 3 and self.rests_until <= now:
            self.rests_until = now + min(LONGEST_REST, 2.0**self.rests)
            self.rests += 1
        if retry_after:
            self.rests = max(self.rests, 1)
            self.rests_until = max(self.rests_until, now + min(retry_after, LONGEST_REST))


@dataclass
class Sending:
    """A delivery. `owner` is the loop whose claim it carries; all times are of one clock."""

    webhook: int
    shipment: int
    place: int
    earliest: float
    state: int = WAITING
    attempts: int = 0
    step: int = 0
    owner: str | None = None
    owned_until: float = 0.0
    first_attempt: float | None = None

    @property
    def row(self) -> tuple[int, int, int, str | None]:
        return self.state, self.attempts, self.step, self.owner

    def claim(self, loop: str, now: float) -> None:
        self.owner, self.owned_until = loop, now + CLAIM_SECONDS

    def record(self, now: float, *, ok: bool, retry_after: float) -> None:
        self.attempts += 1
        self.owner = None
        if self.first_attempt is None:
            self.first_attempt = now
        if ok:
            self.state = DELIVERED
            return
        self.step += 1
        if self.step > len(RETRIES):
            self.state = GIVEN_UP
        else:
            self.earliest = now + max(RETRIES[self.step - 1], min(retry_after, DAY))

    def redeliver(self, now: float) -> bool:
        """Send it again, unless somebody is sending it; returns whether that was possible."""
        if self.owner and self.owned_until > now:
            return False
        self.state, self.step, self.owner, self.first_attempt = WAITING, 0, None, None
        self.earliest = now
        return True


@dataclass
class Promises:
    """All deliveries by their id, and loops that were given up."""

    receivers: dict[int, Receiver]
    sendings: dict[str, Sending] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)

    def waiting(self) -> Iterator[Sending]:
        return (each for each in self.sendings.values() if each.state == WAITING)

    def why_not(self, sending: Sending, now: float) -> str:
        """Return the reason why it must not be claimed now; "" if it may be."""
        receiver = self.receivers[sending.webhook]
        if sending.state != WAITING:
            return "it is finished"
        if sending.earliest > now + SLACK:
            return "it is too early"
        owned = sending.owner and sending.owned_until > now + SLACK
        if owned and sending.owner not in self.lost:
            return "another is sending it"
        if not receiver.active or receiver.deleted:
            return "its webhook is paused or deleted"
        if receiver.rests_until > now + SLACK:
            return "its webhook rests"
        for other in self.waiting():
            same = (other.webhook, other.shipment) == (sending.webhook, sending.shipment)
            blocking = other.first_attempt is None or other.first_attempt > now - HOUR + SLACK
            if same and blocking and other.place < sending.place:
                return "an earlier event of its shipment waits"
        return ""
