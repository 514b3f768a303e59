from celery import shared_task

from deliveries.upkeep.periodic import periodic_task
from desk.reports import dashboard
from desk.storms import replies, services


@periodic_task(limit_seconds=120)
def watch_for_storms() -> int:
    return len(services.watch())


@periodic_task(limit_seconds=120, batch=replies.BATCHES)
def answer_storms() -> int:
    return replies.continue_replies()


@shared_task
def answer_storm(reply_id: int) -> None:
    """What the version before rings for."""
    answer_storms()


@periodic_task(limit_seconds=120)
def count_figures() -> int:
    return dashboard.count_ahead()
