"""Load that runs in threads while a scenario works on the database, and its waiting times."""

import time
from collections.abc import Sequence
from threading import Event, Thread
from typing import Self

from django.db import connection

from deliveries import publishing
from tools.bench import load
from tools.bench.measure import in_ms
from tools.bench.receiver import Receiver
from tools.bench.steady import first_arrivals
from webhooks.models import Webhook

LOOK_EVERY_SECONDS = 0.01
# Connections open in this time; events due in it are not timed.
WARM_UP_SECONDS = 1.0
WAITING_FOR_LOCKS = """
SELECT extract(epoch FROM max(clock_timestamp() - waitstart)) FROM pg_locks WHERE NOT granted
"""


class BackgroundThread:
    """Context manager that repeats `step` in a thread with its own database connection."""

    def __init__(self) -> None:
        self.ended = Event()
        self.thread = Thread(target=self.work, daemon=True)
        self.troubles: list[str] = []

    def step(self) -> None:
        """Run one step, then wait until the next is due."""
        raise NotImplementedError

    def work(self) -> None:
        try:
            while not self.ended.is_set():
                self.step()
        except Exception as error:
            self.troubles.append(f"{type(self).__name__} ended: {error}")
        finally:
            connection.close()

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()


class LockWatcher(BackgroundThread):
    """Watcher of lock waits; `longest` is in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0.0

    def step(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(WAITING_FOR_LOCKS)
            (seconds,) = cursor.fetchone()
        self.longest = max(self.longest, float(seconds or 0.0))
        self.ended.wait(LOOK_EVERY_SECONDS)


class SteadyLoad(BackgroundThread):
    """Publisher at a steady rate, to the webhooks in turn, from `number` on, one event per commit.

    Time counts from an event's due time, even if the previous event was late.
    """

    def __init__(self, webhooks: Sequence[Webhook], rate: float, number: int) -> None:
        super().__init__()
        self.early = int(rate * WARM_UP_SECONDS)
        self.companies = [webhook.company_id for webhook in webhooks]
        self.every = 1 / rate
        self.first = self.number = number
        self.due = time.monotonic()
        self.waited: list[float] = []
        self.committed: dict[int, float] = {}

    def step(self) -> None:
        self.ended.wait(max(0.0, self.due - time.monotonic()))
        company = self.companies[self.number % len(self.companies)]
        publishing.publish([load.news(company, self.number)])
        now = time.monotonic()
        self.waited.append(now - self.due)
        self.committed[self.number] = now
        self.number += 1
        self.due += self.every

    def times(self, receiver: Receiver) -> dict[str, dict[str, float]]:
        """Return milliseconds to the commit of each event, and from there to its receiver."""
        arrived = first_arrivals(receiver.arrivals())
        warm = list(self.committed.items())[self.early :]
        there = [max(0.0, arrived[each] - at) for each, at in warm if each in arrived]
        return {"commit": in_ms(self.waited[self.early :]), "receiver": in_ms(there)}
