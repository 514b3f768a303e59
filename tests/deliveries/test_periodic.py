"""Periodic tasks: one run of a kind at a time, in batches, with a row that says how it goes."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from celery import current_app
from django.conf import settings
from django.utils import timezone

from companies import doorbell
from companies.models import Company
from deliveries import tasks
from deliveries.models import Pulse
from deliveries.upkeep import deleted_webhooks, periodic
from tests import builders as build
from tickets.models import Ticket
from tickets.sla import recalculation
from tickets.tasks import recalculate_stale


def replace_sweep(monkeypatch: pytest.MonkeyPatch, work: Callable[[], int]) -> None:
    monkeypatch.setattr(deleted_webhooks, "cancel_deliveries", work)


def test_a_second_run_leaves_it_to_the_first(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[int | None] = []

    def run_another() -> int:
        others.extend([tasks.sweep(), tasks.pause_failing()])
        return 7

    replace_sweep(monkeypatch, run_another)

    assert tasks.sweep() == 7
    # Only of its own kind.
    assert others == [None, 0]
    assert Pulse.objects.get(name="sweep").done_at


def test_a_killed_run_keeps_its_kind_until_its_lease_ends(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(periodic, "end", lambda *_, **__: None)
        tasks.sweep()
    assert tasks.sweep() is None

    Pulse.objects.update(lease_until=timezone.now())

    assert tasks.sweep() == 0


def test_a_late_run_does_not_end_the_lease_of_the_next(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def outlive_the_lease() -> int:
        Pulse.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        replace_sweep(monkeypatch, lambda: seen.append("next") or 0)
        run = tasks.sweep()
        Pulse.objects.update(lease_until=timezone.now() + timedelta(minutes=1))
        return run or 0

    replace_sweep(monkeypatch, outlive_the_lease)
    tasks.sweep()

    assert seen == ["next"]
    assert tasks.sweep() is None


def test_counts_failures_until_the_next_success(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise RuntimeError("broken")

    with monkeypatch.context() as broken:
        replace_sweep(broken, fail)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                tasks.sweep()
    assert Pulse.objects.values_list("tries", "done_at").get() == (2, None)

    tasks.sweep()

    assert Pulse.objects.get().tries == 0
    assert Pulse.objects.get().done_at


def test_notes_who_rang(db: None) -> None:
    tasks.sweep()
    assert Pulse.objects.get().at is None

    tasks.sweep.apply()
    rung_at = Pulse.objects.get().at
    assert rung_at

    tasks.sweep()
    assert Pulse.objects.get().at == rung_at


def test_a_long_recalculation_goes_on_in_batches(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        build.ticket(company)
    Ticket.objects.update(clock_digest=0)
    rings: list[str] = []
    monkeypatch.setattr(recalculation, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(recalculate_stale, "batch", 2)
    monkeypatch.setattr(doorbell, "ring", lambda task, **_: rings.append(task))

    done = [recalculate_stale.apply().result for _ in range(4)]

    assert done == [2, 2, 1, 0]
    # A batch that was not full was the last.
    assert rings == ["tickets.tasks.recalculate_stale"] * 2


def test_every_periodic_task_runs_alone_and_ends_within_its_lease(db: None) -> None:
    current_app.loader.import_default_modules()
    scheduled = [each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()]

    for name in scheduled:
        task = current_app.tasks[name]
        assert isinstance(task, periodic.PeriodicTask), name
        assert task.time_limit > 0
        assert task() is not None
    names = {name.rpartition(".")[2] for name in scheduled}
    assert set(Pulse.objects.values_list("name", flat=True)) == names
    assert len(names) == len(scheduled)
