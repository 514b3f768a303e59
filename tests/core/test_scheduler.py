"""The scheduler: it runs due jobs, here or in a child process, and one job harms no other."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from companies.models import Company
from core.data import database
from core.jobs import job as running
from core.jobs import scheduler
from core.jobs.forking import fork_into
from core.jobs.job import Job, JobReport
from core.jobs.scheduler import QUICK_SECONDS, Scheduler
from core.models import Pulse
from deliveries import jobs, publishing
from deliveries.models import Delivery, State
from tests import builders as build
from webhooks import services

TEN_SECONDS = timedelta(seconds=10)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the names of jobs that ran in this process; only those that a test adds exist."""
    monkeypatch.setattr(running, "registered", {})
    monkeypatch.setattr(scheduler, "all_jobs", lambda: running.registered)
    before = signal.getsignal(signal.SIGALRM)
    yield []
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def add(ran: list[str]) -> Callable[..., Job]:
    def add(name: str, work: Callable[[], int] = lambda: 0, **facts: object) -> Job:
        def note_and_work() -> int:
            ran.append(name)
            return work()

        job = replace(Job(name, note_and_work, TEN_SECONDS, limit_seconds=30), **facts)
        running.registered[name] = job
        return job

    return add


def test_runs_what_is_due_and_nothing_else(db: None, ran: list[str], add: Callable) -> None:
    add("often")
    add("seldom", every=timedelta(hours=1))
    own = Scheduler()
    own.run_due_jobs()
    assert ran == ["often", "seldom"]

    own.run_due_jobs()
    assert ran == ["often", "seldom"]

    Pulse.objects.update(begun_at=timezone.now() - TEN_SECONDS)
    own.run_due_jobs()
    assert ran == ["often", "seldom", "often"]


def test_another_scheduler_goes_on_where_one_was_killed(
    db: None, ran: list[str], add: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("often")
    with monkeypatch.context() as killed:
        killed.setattr(running, "end", lambda *_, **__: None)
        Scheduler().run_due_jobs()
    other = Scheduler()
    Pulse.objects.update(begun_at=timezone.now() - TEN_SECONDS)
    other.run_due_jobs()
    assert ran == ["often"]

    Pulse.objects.update(lease_until=timezone.now(), tries=0)
    other.run_due_jobs()

    assert ran == ["often", "often"]


def test_goes_on_at_once_where_a_batch_was_full(db: None, ran: list[str], add: Callable) -> None:
    batches = iter([5, 5, 1])
    add("batches", lambda: next(batches), batch=5)
    add("other")
    own = Scheduler()

    waits = [own.run_due_jobs() for _ in range(3)]

    assert ran == ["batches", "other", "batches", "batches"]
    assert waits == [0, 0, scheduler.LOOK_EVERY_SECONDS]


def test_rest_of_a_batch_is_left_to_the_running_scheduler(
    db: None, ran: list[str], add: Callable
) -> None:
    """Avoid a busy loop: the scheduler would look again and again, without a pause."""
    add("batches", lambda: 5, batch=5, has_work=lambda: True)
    own = Scheduler()
    assert [own.run_due_jobs(), own.run_due_jobs()] == [0, 0]
    assert ran == ["batches"] * 2

    Pulse.objects.update(lease_until=timezone.now() + timedelta(minutes=1))

    assert own.run_due_jobs() == scheduler.LOOK_EVERY_SECONDS
    assert ran == ["batches"] * 2


def test_looks_as_often_as_a_job_with_work_wants(db: None, ran: list[str], add: Callable) -> None:
    work = iter([1, 0])
    add("steps", lambda: next(work), every=timedelta(seconds=1))
    own = Scheduler()
    assert own.run_due_jobs() == 1

    Pulse.objects.update(begun_at=timezone.now() - TEN_SECONDS)
    assert own.run_due_jobs() == scheduler.LOOK_EVERY_SECONDS


def test_runs_at_the_start_what_is_to_be_done_when_a_worker_starts(
    db: None, ran: list[str], add: Callable
) -> None:
    add("weeks", every=timedelta(hours=1), at_start=True)
    for _ in range(2):
        own = Scheduler()
        own.run_due_jobs()
        own.run_due_jobs()

    assert ran == ["weeks", "weeks"]


def test_job_with_a_check_runs_only_if_there_is_work(
    rows_to_keep: None, ran: list[str], add: Callable
) -> None:
    answers = iter([False, False, False, True])
    add("mails", has_work=lambda: next(answers), in_child=True)
    own = Scheduler()

    # There is no work, so nothing runs for a minute.
    own.run_due_jobs()
    assert ran == ["mails"]
    for seconds in (59, 61):
        Pulse.objects.update(begun_at=timezone.now() - timedelta(seconds=seconds))
        own.last_begins.clear()
        own.run_due_jobs()
    assert ran == ["mails", "mails"]
    # It is not queried again before its period is over.
    Pulse.objects.update(begun_at=timezone.now() - TEN_SECONDS)
    own.run_due_jobs()

    own.last_begins.clear()
    own.run_due_jobs()

    ((pid, child),) = own.children.items()
    assert (child.job.name, os.waitpid(pid, 0)[1]) == ("mails", 0)


def test_per_host_job_runs_on_each_host(db: None, ran: list[str], add: Callable) -> None:
    add("host", on_each_host=True)
    for _ in range(2):
        own = Scheduler()
        own.run_due_jobs()
        own.run_due_jobs()

    assert ran == ["host", "host"]
    assert not Pulse.objects.exists()


def test_workers_that_start_together_do_not_stay_together(add: Callable) -> None:
    job = add("host", on_each_host=True, every=timedelta(minutes=1))
    schedulers = [Scheduler() for _ in range(30)]
    a_minute_ago = time.monotonic() - 60

    for each in schedulers:
        each.last_begins[job] = a_minute_ago

    assert {each.is_due(job, scheduler.NEVER) for each in schedulers} == {True, False}


def test_failing_job_holds_up_no_other(
    rows_to_keep: None, ran: list[str], add: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    add("bad", lambda: 1 // 0)
    add("good")
    own = Scheduler()

    own.run_due_jobs()

    assert ran == ["bad", "good"]
    assert "bad failed" in caplog.text
    # The next attempt is a process of its own.
    Pulse.objects.filter(name="bad").update(begun_at=timezone.now() - TEN_SECONDS)
    own.run_due_jobs()
    ((pid, child),) = own.children.items()
    assert (child.job.name, os.waitpid(pid, 0)[1]) == ("bad", 256)
    assert Pulse.objects.get(name="bad").tries == 2


def test_job_that_lost_the_database_runs_in_a_child_next_time(
    rows_to_keep: None, ran: list[str], add: Callable
) -> None:
    def lose_the_database() -> int:
        raise OperationalError("gone")

    waits = add("waits", lose_the_database)
    add("good")
    own = Scheduler()
    with pytest.raises(OperationalError):
        own.run_due_jobs()
    assert own.long == {waits}

    own.run_due_jobs()

    assert ran == ["waits", "good"]


def test_job_whose_check_for_work_fails_holds_up_no_other(
    rows_to_keep: None, ran: list[str], add: Callable
) -> None:
    def lose_the_database() -> bool:
        raise OperationalError("gone")

    add("mails", has_work=lose_the_database)
    add("good")
    own = Scheduler()
    with pytest.raises(OperationalError):
        own.run_due_jobs()

    own.run_due_jobs()

    # It ran in this process; the other one had a child.
    assert ran == ["good"]


def test_slow_job_runs_in_a_child_until_it_is_quick(
    rows_to_keep: None, ran: list[str], add: Callable
) -> None:
    slow = add("slow", every=timedelta(0))
    own = Scheduler()
    own.note_length(slow, QUICK_SECONDS + 0.1)

    own.run_due_jobs()

    assert ran == []
    ((pid, child),) = own.children.items()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    own.children[pid] = child._replace(began=child.began + 1000)
    own.reap()
    assert own.children == {}
    assert own.long == set()
    own.run_due_jobs()
    assert ran == ["slow"]


def test_job_runs_in_a_child_while_another_goes_on(
    rows_to_keep: None, ran: list[str], add: Callable, company: Company
) -> None:
    deleted = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    services.delete_webhook(company, deleted.pk)
    gate, opener = os.pipe()

    def sweep_at_last() -> int:
        os.read(gate, 1)
        return jobs.sweep.work()

    running.registered["sweep"] = replace(jobs.sweep, work=sweep_at_last, in_child=True)
    add("quick", every=timedelta(0))
    own = Scheduler()

    own.run_due_jobs()
    own.run_due_jobs()

    assert ran == ["quick", "quick"]
    ((pid, child),) = own.children.items()
    assert child.job.name == "sweep"
    os.write(opener, b"!" * 9)
    assert os.waitpid(pid, 0)[1] == 0
    os.close(gate)
    os.close(opener)
    assert set(Delivery.objects.values_list("state", flat=True)) == {State.CANCELLED}
    assert Pulse.objects.get(name="sweep").done_at


def test_a_child_works_to_the_end_batch_by_batch(
    db: None, ran: list[str], add: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([5000, 1, 0, 9])
    batches = add("batches", lambda: next(counts), batch=1)
    monkeypatch.setattr(database, "wait_at_most", lambda: None)
    before = signal.getsignal(signal.SIGCHLD)
    try:
        scheduler.run_in_child(batches)
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert next(counts) == 9


def test_a_run_that_hangs_is_killed_in_time(rows_to_keep: None, add: Callable) -> None:
    hangs = add("hangs", lambda: signal.pause() or 0, limit_seconds=1)
    connection.close()

    child = fork_into(lambda: scheduler.run_in_child(hangs))

    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGALRM
    assert Pulse.objects.get().tries == 1
    report = JobReport(hangs.name, hangs.every, Pulse.objects.get())
    assert report.last_success(timezone.now()) == "hangs not yet"


def test_nothing_is_begun_once_it_is_to_stop(db: None, ran: list[str], add: Callable) -> None:
    own = Scheduler()
    add("last", lambda: own.stop() or 0)
    add("never")

    own.run_due_jobs()

    assert ran == ["last"]
