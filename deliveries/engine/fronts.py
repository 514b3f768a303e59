"""Fronts of the queues: times before which nothing is left to find.

While a transaction stays open, such as a backup's, PostgreSQL cannot remove rows that ended after
it began. A look from the beginning would read over all of them, eighty times a second. So a look
begins at the front, and one from the beginning is due now and then: it finds what a lock hid from
earlier looks, and whatever nobody thought of. One that takes long is taken in slices.
Why: decision page engine-looks-begin-at-the-front.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial

from deliveries.engine import clock

BEGINNING = datetime.min.replace(tzinfo=UTC)
# Events wait until a look from the beginning has ended: it takes a ten-thousandth of the time. So
# does any other statement that reads everything and takes longer than LONG_SECONDS. But it may have
# been the database that was slow: the first wait is at most FIRST_WAIT_SECONDS, and then doubles.
WHOLE_PART = 10_000
LONG_SECONDS = 0.05
FIRST_WAIT_SECONDS = 300.0
# Slices get longer until one takes this much more than the quickest. There are MOST_SLICES, as each
# may take long on a busy machine: the last one reads what is left.
SLICE_SECONDS, MOST_SLICES = 0.01, 200
FIRST_SPAN = timedelta(seconds=1)

# Returns the first due time of what is due from the one time on and before the other, if anything.
Find = Callable[[datetime, datetime], datetime | None]


def wait_after(seconds: float, last_wait: float) -> float:
    """Return for how long to wait after a look at everything that took `seconds`."""
    return min(WHOLE_PART * seconds, max(FIRST_WAIT_SECONDS, 2 * last_wait))


class Walk:
    """A look from the beginning in slices, from the front down. The next one ends at `until`."""

    def __init__(self, front: datetime) -> None:
        self.until = front
        self._span, self._slices = FIRST_SPAN, 0
        self._total, self._quickest = 0.0, math.inf

    @property
    def since(self) -> datetime:
        """Beginning of the next slice."""
        is_last = self._slices >= MOST_SLICES or self.until - BEGINNING <= self._span
        return BEGINNING if is_last else self.until - self._span

    @property
    def seconds(self) -> float:
        """Seconds that it took so far, less what a slice takes that reads nothing."""
        return self._total - self._slices * self._quickest

    def go_on(self, seconds: float) -> None:
        """Go on after a slice that took `seconds`."""
        self.until = self.since
        self._slices += 1
        self._total += seconds
        self._quickest = min(self._quickest, seconds)
        is_quick = seconds <= self._quickest + SLICE_SECONDS
        self._span = self._span * 2 if is_quick else max(self._span / 2, FIRST_SPAN)


class Front:
    """Front of one queue, in the database's time. `now` is monotonic time, in seconds.

    `wait`: seconds from the last look from the beginning until the next one. `is_long`: it took
    long.
    """

    def __init__(self) -> None:
        self.last = BEGINNING
        self.wait = 0.0
        self.is_long = False
        self._whole_at = -math.inf
        self._walk: Walk | None = None

    def start(self, now: float) -> datetime:
        """Return from when on to look: the front, or BEGINNING if it is time for that.

        If the last look from the beginning took long, that is for `walk` to do.
        """
        return self.last if self.is_long or now < self._whole_at else BEGINNING

    def walks(self, now: float) -> bool:
        """Return whether it is time for a look from the beginning that takes long."""
        return self.is_long and now >= self._whole_at

    def walk(self, find: Find) -> bool:
        """Look at slices for some SLICE_SECONDS, if `walks`; returns whether to go on later."""
        began = now = clock.monotonic()
        if not self.walks(now):
            return False
        self._walk = walk = self._walk or Walk(self.last)
        while now - began < SLICE_SECONDS:
            since, at = walk.since, now
            if found := find(since, walk.until):
                self.lower(found)
            now = clock.monotonic()
            walk.go_on(now - at)
            if since == BEGINNING:
                self.move(BEGINNING, None, walk.seconds, now)
                self._walk = None
                return False
        return True

    def inherit(self, last: datetime, now: float) -> None:
        """Take over another loop's front, for which a look from the beginning takes long."""
        self.last = last
        self.move(BEGINNING, None, math.inf, now)

    def move(self, start: datetime, since: datetime | None, seconds: float, now: float) -> None:
        """Move the front to `since` after a look from `start` that took `seconds`.

        None: the look does not tell, and the front stays.
        """
        if start == BEGINNING:
            self.wait = wait_after(seconds, self.wait)
            self._whole_at = now + self.wait
            self.is_long = seconds > LONG_SECONDS
        if since is not None:
            self.last = since

    def lower(self, until: datetime) -> None:
        """Move the front back to `until`, from when on something has appeared."""
        self.last = min(self.last, until)


class Fronts:
    """Fronts of the deliveries of a loop's webhooks. Of known ones, one at a time begins anew.

    Whatever makes a delivery due writes a wake-up that is due no later, in the same transaction.
    What appears before the front therefore lowers it as its webhook wakes up.
    """

    def __init__(self) -> None:
        self._fronts: dict[int, Front] = {}
        self._walking: int | None = None  # The webhook whose look from the beginning is in slices.

    def starts(self, webhook_ids: Iterable[int], now: float) -> dict[int, datetime]:
        """Return from when on to look for deliveries of each webhook."""
        starts: dict[int, datetime] = {}
        anew = False
        for webhook_id in webhook_ids:
            front = self._fronts.setdefault(webhook_id, Front())
            starts[webhook_id] = front.last if anew else front.start(now)
            anew |= starts[webhook_id] < front.last
            if self._walking is None and front.walks(now):
                self._walking = webhook_id
        return starts

    def walk(self, find: Callable[[int, datetime, datetime], datetime | None]) -> None:
        """Look at the next slice of a look from the beginning that takes long, if any is due."""
        if self._walking is not None:
            front = self._fronts.get(self._walking)
            if not (front and front.walk(partial(find, self._walking))):
                self._walking = None

    def move(
        self,
        starts: Mapping[int, datetime],
        since: Mapping[int, datetime],
        seconds: float,
        now: float,
    ) -> dict[int, float]:
        """Move the fronts after a look from `starts`; those without a time in `since` stay.

        Its `seconds` are shared by those that it looked at from the beginning: others take none.
        Returns for how many seconds the fronts are worth keeping, where a look from the beginning
        takes long.
        """
        fronts = {webhook_id: self._fronts[webhook_id] for webhook_id in starts}
        share = seconds / max(1, sum(start == BEGINNING for start in starts.values()))
        for webhook_id, front in fronts.items():
            front.move(starts[webhook_id], since.get(webhook_id), share, now)
        return {webhook_id: front.wait for webhook_id, front in fronts.items() if front.is_long}

    def begin(self, webhook_ids: Iterable[int]) -> None:
        """Look at webhooks that were just taken from the beginning."""
        for webhook_id in webhook_ids:
            self._fronts[webhook_id] = Front()

    def unknown(self, webhook_ids: Iterable[int]) -> set[int]:
        """Return the webhooks without a front."""
        return set(webhook_ids) - self._fronts.keys()

    def inherit(self, fronts: Mapping[int, datetime], now: float) -> None:
        """Take over the fronts of webhooks that another loop has transferred with them."""
        for webhook_id, last in fronts.items():
            self._fronts[webhook_id] = front = Front()
            front.inherit(last, now)

    def long(self) -> dict[int, datetime]:
        """Return the fronts of the webhooks for which a look from the beginning takes long."""
        return {id: front.last for id, front in self._fronts.items() if front.is_long}

    def lower(self, appeared: Iterable[tuple[int, datetime]]) -> None:
        """Move fronts back: of each webhook, something has appeared from a time on."""
        for webhook_id, since in appeared:
            if front := self._fronts.get(webhook_id):
                front.lower(since)

    def forget(self, webhook_ids: Iterable[int]) -> None:
        """Forget webhooks, which may change while other loops have them."""
        for webhook_id in webhook_ids:
            self._fronts.pop(webhook_id, None)

    def forget_all(self) -> None:
        """Have the next look at each webhook begin anew."""
        self._fronts.clear()
