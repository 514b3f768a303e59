from deliveries.upkeep.periodic import periodic_task
from desk.reports import kept
from desk.storms import replies, services
from desk.ticket import leaving


@periodic_task(limit_seconds=120)
def watch_for_storms() -> int:
    return len(services.watch())


@periodic_task(limit_seconds=120, batch=replies.BATCHES)
def answer_storms() -> int:
    return replies.continue_replies()


@periodic_task(limit_seconds=120, batch=leaving.MOST_AT_ONCE)
def send_answers() -> int:
    """Send what agents can no longer take back. Each answer rings; beat makes sure."""
    return leaving.send_due_answers()


@periodic_task(limit_seconds=120)
def count_figures() -> int:
    return kept.count_ahead()
