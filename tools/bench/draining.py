"""Delivery of one backlog, from the commit that creates it to the last request."""

from collections.abc import Collection
from dataclasses import dataclass

from celery import current_app
from django.conf import settings
from django.db import transaction

from deliveries.models import Delivery
from tools.bench import books, load
from tools.bench.books import Books
from tools.bench.progress import say, until, until_count
from tools.bench.receiver import Arrival, Receiver
from tools.bench.rig import Rig
from webhooks import services
from webhooks.models import Webhook

CPU_HEADINGS = [f"{name} CPU s/1000" for name in ("worker", "postgres", "broker")]


@dataclass(frozen=True)
class Drained:
    """Result of a drain. `cpu_s_per_1000` is CPU time per thousand deliveries, by process tree."""

    size: int
    deliveries_per_s: float
    cpu_s_per_1000: dict[str, float]
    receiver_share: float
    books: Books

    def row(self) -> dict[str, object]:
        return {
            "size": self.size,
            "deliveries_per_s": self.deliveries_per_s,
            "cpu_s_per_1000": self.cpu_s_per_1000,
            "receiver_share": self.receiver_share,
            **self.books.rows(),
        }


def drain(rig: Rig, receiver: Receiver, webhooks: list[Webhook], size: int) -> Drained:
    """Let the running worker deliver `size` events that appear all at once."""
    receiver.clear()
    with transaction.atomic():
        published = load.publish([webhook.company_id for webhook in webhooks], size)
        meter = rig.meter()
    ring()
    until_count(receiver.count, size, f"{size} deliveries")
    ids = [webhook.pk for webhook in webhooks]
    until(lambda: not waiting(ids), "the last deliveries were not recorded")
    used, _ = meter.read()
    share = receiver.share()
    arrivals = receiver.arrivals()
    return Drained(
        size=size,
        deliveries_per_s=rate(arrivals),
        cpu_s_per_1000=per_1000(used, size),
        receiver_share=share,
        books=books.balance(published, ids, arrivals),
    )


def ring() -> None:
    """Wake the other loops, as further commits would: the one commit has rung once."""
    for _ in range(settings.DELIVERY_LOOPS - 1):
        current_app.send_task("deliveries.tasks.deliver", expires=10)


def waiting(webhook_ids: Collection[int]) -> bool:
    return Delivery.objects.open().filter(webhook_id__in=webhook_ids).exists()


def retire(webhooks: list[Webhook]) -> None:
    """Delete webhooks, so that their waiting deliveries do not disturb the next measurement."""
    say("cancelling what still waits")
    with transaction.atomic():
        for webhook in webhooks:
            services.delete_webhook(webhook.company, webhook.pk)
    ids = [webhook.pk for webhook in webhooks]
    until(lambda: not waiting(ids), "deliveries of deleted webhooks were not cancelled")


def rate(arrivals: list[Arrival]) -> float:
    """Return requests a second from the first to the last."""
    times = [arrival.at for arrival in arrivals]
    return round((len(times) - 1) / (max(times) - min(times)), 1)


def per_1000(used: dict[str, float], size: int) -> dict[str, float]:
    return {name: round(1000 * seconds / size, 3) for name, seconds in used.items()}


def cpu_columns(cpu_s_per_1000: dict[str, float]) -> list[str]:
    return [f"{cpu_s_per_1000[name]:.3f}" for name in ("worker", "postgres", "broker")]
