"""Beat, as it starts."""

from celery import current_app
from celery.beat import Scheduler
from django.conf import settings

from config import beat


def test_rings_at_the_start_for_what_it_rings_for_often() -> None:
    scheduler = Scheduler(current_app)
    scheduler.merge_inplace(settings.CELERY_BEAT_SCHEDULE)
    # Celery adds entries of its own.
    scheduler.install_default_entries(scheduler.schedule)

    beat.make_often_due(scheduler.schedule.values())

    due = {entry.task for entry in scheduler.schedule.values() if entry.is_due().is_due}
    assert "deliveries.tasks.sweep" in due
    assert "deliveries.tasks.make_partitions" not in due


def test_rings_as_often_as_is_promised() -> None:
    often = {each["task"].rpartition(".")[2]: each["schedule"] for each in beat.SCHEDULE.values()}

    assert (
        often.items()
        >= {
            "sweep": 10,
            "assign_waiting": 10,
            "send_mails": 10,
            "recalculate_stale": 60,
            "notify_of_late_tickets": 60,
            "run_automations": 60,
            "make_thumbnails": 60,
            "remove_orphans": 600,
            "watch_for_storms": 60,
            "answer_storms": 60,
            "pause_failing": 300,
            "make_partitions": 3600,
        }.items()
    )
