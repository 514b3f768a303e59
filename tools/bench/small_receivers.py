"""Backlog for a server with a few workers, to see if the sender adapts to its capacity."""

import time
from dataclasses import dataclass, field

from django.db import connection, transaction

from deliveries.models import Delivery
from tools.bench import draining, load
from tools.bench.measure import in_ms
from tools.bench.progress import until
from tools.bench.receiver import Receiver

# Limits that are judged.
LEAST_SHARE_OF_CAPACITY = 0.9
LARGEST_SHARE_OF_TIMEOUTS = 0.01
LONGEST_MS = 1000.0

# The sender's records of finished attempts.
ATTEMPTS = """
SELECT attempt.duration_ms, attempt.error FROM deliveries_delivery AS delivery
JOIN deliveries_any_attempt AS attempt ON attempt.delivery_id = delivery.id
WHERE delivery.webhook_id = %s
"""


@dataclass(frozen=True)
class SmallReceiverResult:
    """Result of a run. `capacity` is requests a second of the server; `durations` in seconds."""

    workers: int
    capacity: float
    answered_per_s: float
    durations: list[float]
    timeouts: int
    troubles: list[str] = field(default_factory=list)

    @property
    def share_of_capacity(self) -> float:
        return round(self.answered_per_s / self.capacity, 3)

    @property
    def share_of_timeouts(self) -> float:
        return round(self.timeouts / max(1, len(self.durations)), 4)

    @property
    def p99_ms(self) -> float | None:
        return in_ms(self.durations).get("p99")

    def broken(self) -> list[str]:
        """Report the limits that are exceeded."""
        p99 = self.p99_ms
        judged = {
            f"{self.share_of_capacity} of its capacity": self.share_of_capacity
            >= LEAST_SHARE_OF_CAPACITY,
            f"{self.share_of_timeouts} of the attempts time out": self.share_of_timeouts
            <= LARGEST_SHARE_OF_TIMEOUTS,
            f"p99 of an attempt {p99} ms": p99 is not None and p99 < LONGEST_MS,
        }
        return [words for words, holds in judged.items() if not holds]

    def row(self) -> dict[str, object]:
        return {
            "workers": self.workers,
            "capacity_per_s": self.capacity,
            "answered_per_s": self.answered_per_s,
            "share_of_capacity": self.share_of_capacity,
            "share_of_timeouts": self.share_of_timeouts,
            "p99_ms": self.p99_ms,
            "attempts": len(self.durations),
            "ok": not self.broken(),
        }


def measure(
    receiver: Receiver, workers: int, busy_seconds: float, waiting: int, seconds: float
) -> SmallReceiverResult:
    """Measure for `seconds` from the first request on, and cancel the rest."""
    (webhook,) = load.webhooks([receiver.url(f"small/{workers}/{busy_seconds}")])
    receiver.clear()
    with transaction.atomic():
        published = load.publish([webhook.company_id], waiting)
    draining.ring()
    until(lambda: receiver.count() > 0, "no delivery was made")
    time.sleep(seconds)
    durations, timeouts = attempts(webhook.pk)
    first = min(arrival.at for arrival in receiver.arrivals())
    draining.retire([webhook])
    until(lambda: not receiver.pending(), "the last requests did not end")
    answers = [arrival.answered_at for arrival in receiver.arrivals() if arrival.answered_at]
    in_time = sum(answered_at <= first + seconds for answered_at in answers)
    there = Delivery.objects.filter(webhook=webhook).count()
    return SmallReceiverResult(
        workers=workers,
        capacity=workers / busy_seconds,
        answered_per_s=round(in_time / seconds, 1),
        durations=durations,
        timeouts=timeouts,
        troubles=[] if there == published else [f"{published} were published, {there} are there"],
    )


def attempts(webhook_id: int) -> tuple[list[float], int]:
    """Return the seconds of each attempt so far, and the number of timeouts."""
    with connection.cursor() as cursor:
        cursor.execute(ATTEMPTS, [webhook_id])
        rows = cursor.fetchall()
    return [ms / 1000 for ms, _ in rows], sum(error == "timeout" for _, error in rows)
