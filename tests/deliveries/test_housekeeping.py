"""Periodic tasks that nobody rings for are run all the same, and no others."""

import os
import signal
from datetime import datetime, timedelta

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection
from django.utils import timezone

from companies.models import Company
from deliveries import publishing, tasks
from deliveries.engine.processes import fork_into
from deliveries.models import Delivery, Pulse, State
from deliveries.upkeep import deleted_webhooks, housekeeping, periodic
from tests import builders as build
from webhooks import services

SWEEP = tasks.sweep.name
EVERY = {
    each["task"]: timedelta(seconds=each["schedule"])
    for each in settings.CELERY_BEAT_SCHEDULE.values()
}


@pytest.fixture
def now(db: None) -> datetime:
    return timezone.now()


def pulse(name: str, *, rung: datetime | None, begun: datetime | None) -> None:
    short = name.rpartition(".")[2]
    Pulse.objects.update_or_create(name=short, defaults={"at": rung, "begun_at": begun})


def test_does_nothing_while_beat_and_broker_are_well(now: datetime) -> None:
    long_ago = now - timedelta(days=9)
    for name, every in EVERY.items():
        last = now - every - timedelta(seconds=14)
        pulse(name, rung=last, begun=last)

    assert housekeeping.overdue_tasks(now, long_ago) == []


def test_runs_what_nobody_rings_for_at_its_own_pace(now: datetime) -> None:
    long_ago = now - timedelta(days=9)
    assert housekeeping.overdue_tasks(now, long_ago) == list(EVERY)

    for name, every in EVERY.items():
        pulse(name, rung=now - every - timedelta(seconds=16), begun=now - every)
    assert housekeeping.overdue_tasks(now, long_ago) == list(EVERY)

    # Another worker's housekeeping has just begun it.
    pulse(SWEEP, rung=long_ago, begun=now - timedelta(seconds=1))
    assert SWEEP not in housekeeping.overdue_tasks(now, long_ago)


def test_gives_beat_its_time_after_a_start(now: datetime) -> None:
    """A period, the shortest of five seconds and this one's of ten, and fifteen of grace."""
    assert housekeeping.overdue_tasks(now, now - timedelta(seconds=19)) == []
    assert SWEEP not in housekeeping.overdue_tasks(now, now - timedelta(seconds=24))
    assert SWEEP in housekeeping.overdue_tasks(now, now - timedelta(seconds=26))


def test_runs_a_task_to_its_end_batch_by_batch(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([5000, 1, 0, 9])
    monkeypatch.setattr(deleted_webhooks, "cancel_deliveries", lambda: next(counts))
    before = [signal.getsignal(each) for each in (signal.SIGCHLD, signal.SIGALRM)]
    try:
        housekeeping.run_task(SWEEP)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGCHLD, before[0])
        signal.signal(signal.SIGALRM, before[1])

    assert next(counts) == 9
    # Nobody rang: beat is as absent as before.
    assert Pulse.objects.get().at is None


def wait(child: int) -> int:
    return os.waitpid(child, 0)[1]


def test_a_run_is_a_process_of_its_own(rows_to_keep: None, company: Company) -> None:
    deleted = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    services.delete_webhook(company, deleted.pk)
    running: dict[int, str] = {}

    housekeeping.start_runs([SWEEP], running)
    housekeeping.start_runs([SWEEP], running)

    ((child, name),) = running.items()
    assert name == SWEEP
    assert wait(child) == 0
    assert set(Delivery.objects.values_list("state", flat=True)) == {State.CANCELLED}
    assert Pulse.objects.get().done_at


def test_a_run_that_hangs_is_killed_in_time(
    rows_to_keep: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleted_webhooks, "cancel_deliveries", lambda: signal.pause() or 0)
    monkeypatch.setattr(current_app.tasks[SWEEP], "time_limit", 1)
    connection.close()

    child = fork_into(lambda: housekeeping.run_task(SWEEP))

    assert os.WTERMSIG(wait(child)) == signal.SIGALRM
    assert Pulse.objects.get().tries == 1
    assert periodic.scheduled_tasks()[0].last_success(timezone.now()) == "sweep not yet"
