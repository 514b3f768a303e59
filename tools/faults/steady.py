"""Events at a steady rate for the duration of a block."""

import threading
import time
from collections.abc import Iterable
from itertools import pairwise

from django.db import InterfaceError, OperationalError, connection

from companies.models import Company
from tools.faults.feeding import event_numbered, publish_numbered
from tools.faults.ledger import Event, event_in
from tools.faults.receiver import Received


class Steady:
    """Publisher of one event per commit: `with Steady(company, per_second=50) as steady:`.

    It begins with a `burst` of events in one commit. An event is published once: if the database is
    unavailable, it continues with the next one, and the commit of the last one is uncertain. Other
    errors of publishing are raised at the end of the block.
    """

    def __init__(self, company: Company, per_second: float, burst: int = 0) -> None:
        self.company = company
        self.per_second = per_second
        self.burst = burst
        self.published = 0
        self.unsure: set[Event] = set()
        self._over = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._publish, daemon=True)

    def __enter__(self) -> "Steady":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if self._error:
            raise self._error

    @property
    def events(self) -> list[Event]:
        return [event_numbered(number) for number in range(self.published)]

    def certain(self, log: Iterable[Received]) -> list[Event]:
        """Return events that must arrive: all that were confirmed as committed, or have arrived."""
        arrived = {event_in(each.body) for each in log} if self.unsure else set()
        return [event for event in self.events if event not in self.unsure - arrived]

    def _publish(self) -> None:
        try:
            publish_numbered(self.company, range(self.burst))
            self.published = self.burst
            due = time.monotonic()
            while not self._over.wait(max(0.0, due - time.monotonic())):
                try:
                    publish_numbered(self.company, [self.published])
                except (OperationalError, InterfaceError):
                    self.unsure.add(event_numbered(self.published))
                    connection.close()
                self.published += 1
                # Do not catch up after a delay, which would flood a database that was frozen.
                due = max(due + 1 / self.per_second, time.monotonic())
        except Exception as error:  # raised again by __exit__
            self._error = error
        finally:
            connection.close()


def longest_pause(log: Iterable[Received], since: float, until: float) -> tuple[float, float]:
    """Find the longest time without an arrival between two moments in Unix time.

    Returns its end, in seconds from `since`, and its length.
    """
    moments = [since, *sorted(each.at for each in log if since < each.at < until), until]
    length, end = max((late - early, late) for early, late in pairwise(moments))
    return end - since, length
