"""Ledger: every published event must be delivered, waiting or given up.

The receiver must also have got what the database calls delivered. A run whose books do not
balance is void: it has measured something else.
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

from django.db import connection

from deliveries.models import State
from tools.bench.receiver import Arrival

COUNT = """
SELECT state, count(*) FROM deliveries_delivery WHERE webhook_id = ANY(%s) GROUP BY state
"""


@dataclass(frozen=True)
class Books:
    """Counts of deliveries. `received` are those that the receiver answered, without repeats."""

    published: int
    delivered: int
    waiting: int
    given_up: int
    received: int
    repeats: int

    @property
    def lost(self) -> int:
        return self.published - self.delivered - self.waiting - self.given_up

    def troubles(self) -> list[str]:
        """Explain why the books do not balance; empty if they do."""
        troubles = []
        if self.lost:
            troubles.append(
                f"published {self.published}, but delivered {self.delivered} + waiting"
                f" {self.waiting} + given up {self.given_up}"
            )
        if self.received != self.delivered:
            troubles.append(f"delivered {self.delivered}, but the receiver has {self.received}")
        return troubles

    def rows(self) -> dict[str, int]:
        return {**asdict(self), "lost": self.lost}


def balance(published: int, webhook_ids: Collection[int], arrivals: Iterable[Arrival]) -> Books:
    keys = [arrival.key for arrival in arrivals if arrival.answered]
    received = len(set(keys))
    return of_counts(published, webhook_ids, received, len(keys) - received)


def of_counts(published: int, webhook_ids: Collection[int], received: int, repeats: int) -> Books:
    """Balance the books of a receiver that has counted its requests itself."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [list(webhook_ids)])
        states = dict(cursor.fetchall())
    return Books(
        published=published,
        delivered=states.get(State.DELIVERED, 0),
        waiting=states.get(State.WAITING, 0),
        given_up=states.get(State.GIVEN_UP, 0),
        received=received,
        repeats=repeats,
    )
