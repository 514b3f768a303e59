"""Fronts of the queues: times before which nothing is left to find.

While a transaction stays open, such as a backup's, PostgreSQL cannot remove rows that ended after
it began. A look from the beginning would read over all of them, eighty times a second. So a look
begins at the front, and one from the beginning is due now and then: it finds what a lock hid from
earlier looks, and whatever nobody thought of.
Why: decision page engine-looks-begin-at-the-front.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

BEGINNING = datetime.min.replace(tzinfo=UTC)
# Events wait until a look from the beginning has ended: it takes a ten-thousandth of the time. So
# does any other statement that reads everything and takes longer than LONG_SECONDS. But it may have
# been the database that was slow: the first wait is at most FIRST_WAIT_SECONDS, and then doubles.
WHOLE_PART = 10_000
LONG_SECONDS = 0.05
FIRST_WAIT_SECONDS = 300.0


def wait_after(seconds: float, last_wait: float) -> float:
    """Return for how long to wait after a look at everything that took `seconds`."""
    return min(WHOLE_PART * seconds, max(FIRST_WAIT_SECONDS, 2 * last_wait))


class Front:
    """Front of one queue, in the database's time. `now` is monotonic time, in seconds.

    `wait`: seconds from the last look from the beginning until the next one.
    """

    def __init__(self) -> None:
        self.last = BEGINNING
        self.wait = 0.0
        self._whole_at = -math.inf

    def start(self, now: float) -> datetime:
        """Return from when on to look: the front, or BEGINNING if it is time for that."""
        return self.last if now < self._whole_at else BEGINNING

    def move(self, start: datetime, since: datetime | None, seconds: float, now: float) -> None:
        """Move the front to `since` after a look from `start` that took `seconds`.

        None: the look does not tell, and the front stays.
        """
        if start == BEGINNING:
            self.wait = wait_after(seconds, self.wait)
            self._whole_at = now + self.wait
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

    def starts(self, webhook_ids: Iterable[int], now: float) -> dict[int, datetime]:
        """Return from when on to look for deliveries of each webhook."""
        starts: dict[int, datetime] = {}
        anew = False
        for webhook_id in webhook_ids:
            front = self._fronts.setdefault(webhook_id, Front())
            starts[webhook_id] = front.last if anew else front.start(now)
            anew |= starts[webhook_id] < front.last
        return starts

    def move(
        self,
        starts: Mapping[int, datetime],
        since: Mapping[int, datetime],
        seconds: float,
        now: float,
    ) -> dict[int, float]:
        """Move the fronts after a look from `starts`; those without a time in `since` stay.

        Returns for how many seconds the fronts are worth keeping, as a look from the beginning
        takes long.
        """
        for webhook_id, start in starts.items():
            self._fronts[webhook_id].move(start, since.get(webhook_id), seconds, now)
        if seconds <= LONG_SECONDS:
            return {}
        return {id: self._fronts[id].wait for id, start in starts.items() if start == BEGINNING}

    def lower(self, appeared: Iterable[tuple[int, datetime]]) -> None:
        """Move fronts back: of each webhook, something has appeared from a time on."""
        for webhook_id, since in appeared:
            if front := self._fronts.get(webhook_id):
                front.lower(since)

    def forget(self, webhook_ids: Iterable[int]) -> None:
        """Have the next look at these webhooks begin anew."""
        for webhook_id in webhook_ids:
            self._fronts.pop(webhook_id, None)

    def forget_all(self) -> None:
        self._fronts.clear()
