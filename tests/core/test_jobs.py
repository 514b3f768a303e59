"""Jobs: one run of each at a time, in batches, with a row that holds its state."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from companies.models import Company
from core.jobs import doorbell
from core.jobs import job as running
from core.jobs.job import all_jobs
from core.measures import catalogue
from core.models import Pulse
from deliveries import jobs
from deliveries.tasks import run_job
from deliveries.upkeep import deleted_webhooks
from tests import builders as build
from tests.test_architecture import LINE, ROOT
from tickets.jobs import recalculate_stale
from tickets.models import Ticket
from tickets.sla import recalculation


def test_jobs_and_measures_are_defined_in_the_modules_that_are_loaded() -> None:
    """Require one module for the jobs of each app, and core's catalogue for all measures."""
    marks = {
        "@job(": "jobs.py",
        "@gauges\n": "gauges.py",
        "@kind(": "retention.py",
        "= CountMeasure(": "catalogue.py",
        "= TimeMeasure(": "catalogue.py",
    }
    lost = [
        f"{path.relative_to(ROOT)}: move what follows {mark!r} to {name}"
        for app in LINE
        for path in sorted((ROOT / app).rglob("*.py"))
        for mark, name in marks.items()
        if path.name != name and mark in path.read_text().replace(f"`{mark}", "")
    ]

    assert lost == []
    assert {each.name for each in catalogue.ALL} >= {"mails", "api_request_duration_seconds"}


def replace_sweep(monkeypatch: pytest.MonkeyPatch, work: Callable[[], int]) -> None:
    monkeypatch.setattr(deleted_webhooks, "cancel_deliveries", work)


def test_a_second_run_leaves_it_to_the_first(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[int | None] = []

    def run_another() -> int:
        others.extend([jobs.sweep(), jobs.pause_failing()])
        return 7

    replace_sweep(monkeypatch, run_another)

    assert jobs.sweep() == 7
    assert others == [None, 0]
    assert Pulse.objects.get(name="sweep").done_at


def test_a_killed_run_keeps_its_kind_until_its_lease_ends(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(running, "end", lambda *_, **__: None)
        jobs.sweep()
    assert jobs.sweep() is None

    Pulse.objects.update(lease_until=timezone.now())

    assert jobs.sweep() == 0


def test_a_late_run_does_not_end_the_lease_of_the_next(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    later_runs = []

    def outlive_the_lease() -> int:
        Pulse.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        replace_sweep(monkeypatch, lambda: later_runs.append("next") or 0)
        run = jobs.sweep()
        Pulse.objects.update(lease_until=timezone.now() + timedelta(minutes=1))
        return run or 0

    replace_sweep(monkeypatch, outlive_the_lease)
    jobs.sweep()

    assert later_runs == ["next"]
    assert jobs.sweep() is None


def test_counts_failures_until_the_next_success(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise RuntimeError("broken")

    with monkeypatch.context() as broken:
        replace_sweep(broken, fail)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                jobs.sweep()
    assert Pulse.objects.values_list("tries", "done_at").get() == (2, None)

    jobs.sweep()

    assert Pulse.objects.get().tries == 0
    assert Pulse.objects.get().done_at


def test_a_run_of_the_scheduler_waits_for_the_period_of_the_job(db: None) -> None:
    """Wait: two schedulers see the job due at once, and one may end before the other begins."""
    assert jobs.sweep.run(rested=True) == 0
    assert jobs.sweep.run(rested=True) is None
    # A run that was requested does not wait.
    assert jobs.sweep() == 0

    Pulse.objects.update(begun_at=timezone.now() - jobs.sweep.every)

    assert jobs.sweep.run(rested=True) == 0


def test_a_long_recalculation_goes_on_in_batches(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        build.ticket(company)
    Ticket.objects.update(clock_digest=0)
    rings: list[str] = []
    monkeypatch.setattr(recalculation, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(recalculate_stale, "batch", 2)
    monkeypatch.setattr(doorbell, "ring_job", lambda name, **_: rings.append(name))

    for remaining in (3, 1, 0, 0):
        run_job("recalculate_stale")
        assert Ticket.objects.filter(clock_digest=0).count() == remaining

    # A batch that was not full was the last one.
    assert rings == ["recalculate_stale"] * 2


def test_every_job_ends_within_its_lease(db: None) -> None:
    names = {job.name for job in all_jobs().values() if not job.on_each_host}

    for name in names:
        assert all_jobs()[name].limit_seconds > 0
        assert all_jobs()[name]() is not None, name

    assert set(Pulse.objects.values_list("name", flat=True)) == names


def test_jobs_run_at_the_documented_intervals() -> None:
    assert {name: job.every.total_seconds() for name, job in all_jobs().items()} == {
        "step_replays": 1,
        "send_answers": 5,
        "sweep": 10,
        "assign_waiting": 10,
        "send_mails": 10,
        "count_figures": 30,
        "recalculate_stale": 60,
        "notify_of_late_tickets": 60,
        "run_automations": 60,
        "add_known_shipments": 60,
        "make_thumbnails": 60,
        "watch_for_storms": 60,
        "answer_storms": 60,
        "examine_host": 60,
        "check_loads": 300,
        "set_late_claim_deadlines": 300,
        "pause_failing": 300,
        "remove_orphans": 600,
        "make_partitions": 3600,
        "rebuild_indexes": 3600,
        "forget_what_is_old": 21600,
    }, "say here how often a new job runs"
