"""Throughput of a backlog to slow receivers."""

import time
from dataclasses import dataclass, field

from django.db import transaction

from tools.bench import books, draining, load
from tools.bench.progress import until, within
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig


@dataclass(frozen=True)
class Pace:
    """Throughput of a run.

    `deliveries_per_s` counts answers from the first request on. `most_in_flight` is the highest
    number of requests that the receiver held at once, as sampled.
    """

    webhooks: int
    ms: int
    deliveries_per_s: float
    cpu_s_per_1000: dict[str, float]
    most_in_flight: int
    answered: int
    lost: int
    troubles: list[str] = field(default_factory=list)

    def row(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "troubles"}


def measure(
    rig: Rig, receiver: Receiver, webhooks: int, ms: int, waiting: int, seconds: float
) -> Pace:
    """Deliver `waiting`, or as many as fit into `seconds`, and cancel the rest."""
    hooks = load.webhooks([url(receiver, number, ms) for number in range(webhooks)])
    ids = [webhook.pk for webhook in hooks]
    receiver.clear()
    with transaction.atomic():
        published = load.publish([webhook.company_id for webhook in hooks], waiting)
    meter = rig.meter()
    draining.ring()
    until(lambda: receiver.count() > 0, "no delivery was made")
    held_counts = [0]

    def is_done() -> bool:
        held_counts.append(receiver.pending())
        return receiver.count() >= waiting

    within(seconds, is_done)
    answered, ended = receiver.count(), time.monotonic()
    used, _ = meter.read()
    if answered < waiting:
        draining.retire(hooks)
    until(lambda: not draining.waiting(ids), "the last deliveries were not recorded")
    until(lambda: not receiver.pending(), "the last requests did not end")
    arrivals = receiver.arrivals()
    balance = books.balance(published, ids, arrivals)
    times = [arrival.at for arrival in arrivals]
    last = min(ended, max(arrival.answered_at or 0.0 for arrival in arrivals))
    return Pace(
        webhooks=webhooks,
        ms=ms,
        deliveries_per_s=round(answered / (last - min(times)), 1),
        cpu_s_per_1000=draining.per_1000(used, answered),
        most_in_flight=max(held_counts),
        answered=answered,
        lost=balance.lost if answered == waiting else 0,
        troubles=balance.troubles() if answered == waiting else [],
    )


def url(receiver: Receiver, number: int, ms: int) -> str:
    host = f"127.20.{1 + number // 250}.{1 + number % 250}"
    return receiver.url(f"slow/{ms / 1000}/{number}" if ms else f"in/{number}", host)
