"""Jobs: functions that run every so often, one run of each at a time over all workers.

A job does some of the work that rows call for, and returns how much. The scheduler of any worker
runs it when it is due (core.jobs.scheduler), and `doorbell.ring_job` has a worker run it
at once. A run begins by taking the job's lease, and is killed before that ends: no two runs of a
job overlap. Long work is done in batches, a batch a run, so that other jobs have their turn.
Why: decision page engine-jobs-run-one-at-a-time.
"""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.db import connection
from django.utils.module_loading import autodiscover_modules

from core.jobs.failing_rows import count_failed_rows
from core.measures import catalogue, counting, sums
from core.models import Pulse

# Seconds by which a lease outlives the time limit of its run.
MARGIN_SECONDS = 5

# A job is in trouble after MOST_TRIES runs, or MOST_PERIODS and SOME_TIME, without success.
MOST_TRIES = 3
MOST_PERIODS = 3
SOME_TIME = timedelta(minutes=5)

BEGIN = """
INSERT INTO core_pulse AS pulse (name, begun_at, run, lease_until, tries)
VALUES (%(name)s, statement_timestamp(), %(run)s,
  statement_timestamp() + make_interval(secs => %(lease)s), 1)
ON CONFLICT (name) DO UPDATE SET
  begun_at = excluded.begun_at, run = excluded.run, lease_until = excluded.lease_until,
  tries = least(pulse.tries + 1, 30000)
WHERE coalesce(pulse.lease_until <= statement_timestamp(), true)
  AND pulse.begun_at <= statement_timestamp() - make_interval(secs => %(rest)s)
"""

END = """
UPDATE core_pulse SET lease_until = NULL,
  tries = CASE WHEN %(done)s THEN 0 ELSE tries END,
  done_at = CASE WHEN %(done)s THEN statement_timestamp() ELSE done_at END
WHERE name = %(name)s AND run = %(run)s
"""

STATES = """
SELECT name, extract(epoch FROM statement_timestamp() - begun_at)::float8,
  coalesce(lease_until > statement_timestamp(), false), tries
FROM core_pulse
"""


@dataclass(eq=False)
class Job:
    """A job: its name, what it does, and when and where it runs.

    `work` returns how many things it did; a run that did `batch` or more has probably left some.
    A run is killed after `limit_seconds`. If `has_work` finds nothing, a run begins only once a
    minute. With `in_child` a run is a process of its own: one that waits for others or takes long.
    With `at_start` each worker runs it when it starts, and with `on_each_host` at its own pace.
    """

    name: str
    work: Callable[[], int]
    every: timedelta
    limit_seconds: int
    batch: int | None = None
    has_work: Callable[[], bool] | None = None
    in_child: bool = False
    at_start: bool = False
    on_each_host: bool = False

    def __call__(self) -> int | None:
        """Run it now; return how many things it did, or None if another run is at work."""
        return self.run()

    def run(self, *, rested: bool = False) -> int | None:
        """Run it; with `rested` only if no run has begun within its period, here or elsewhere."""
        if self.on_each_host:
            return self.work()
        rest = self.every.total_seconds() if rested else 0.0
        run = uuid4()
        lease = self.limit_seconds + MARGIN_SECONDS
        with connection.cursor() as cursor:
            cursor.execute(BEGIN, {"name": self.name, "run": run, "lease": lease, "rest": rest})
            if not cursor.rowcount:
                return None
        return self._run_under_lease(run)

    def _run_under_lease(self, run: UUID) -> int:
        began = time.monotonic()
        succeeded = False
        try:
            result = self.work()
            succeeded = True
        finally:
            counting.count(catalogue.JOB_RUNS, self.name, "done" if succeeded else "failed")
            counting.count(catalogue.JOB_SECONDS, self.name, by=time.monotonic() - began)
            end(self.name, run, succeeded=succeeded)
            # This process may stay idle for long, or end at once.
            sums.write_sums()
        return result

    def run_within_limit(self, *, rested: bool = False) -> int | None:
        """Run it, and end this process if that takes longer than `limit_seconds`."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(self.limit_seconds)
        try:
            return self.run(rested=rested)
        finally:
            signal.alarm(0)

    def has_more(self, count: int | None) -> bool:
        """Return whether a run that did `count` things has probably left some."""
        return count is not None and self.batch is not None and count >= self.batch


registered: dict[str, Job] = {}


def job(*, every: timedelta, limit_seconds: int, **facts: Any) -> Callable[..., Job]:
    """Decorate a function as a job of its name; the parameters are those of Job."""

    def register(work: Callable[[], int]) -> Job:
        new_job = Job(work.__name__, work, every, limit_seconds, **facts)
        registered[new_job.name] = new_job
        return new_job

    return register


@cache
def all_jobs() -> Mapping[str, Job]:
    """Return the jobs of all apps by name, as their modules `jobs` register them.

    `core.jobs` is this package, so the folders of core have modules of their own.
    """
    autodiscover_modules("jobs", "health.jobs", "mailing.jobs")
    return registered


def end(name: str, run: UUID, *, succeeded: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(END, {"name": name, "run": run, "done": succeeded})


class JobState(NamedTuple):
    """A job's row as the scheduler needs it: `age` is the seconds since a run last began."""

    age: float
    at_work: bool
    tries: int


def job_states() -> dict[str, JobState]:
    """Return the states of all jobs that have ever begun."""
    with connection.cursor() as cursor:
        cursor.execute(STATES)
        return {name: JobState(*state) for name, *state in cursor.fetchall()}


class JobReport(NamedTuple):
    """A job and its row, once it has run.

    `failed` counts the rows that it goes on without (core.jobs.failing_rows).
    """

    name: str
    every: timedelta
    pulse: Pulse | None
    failed: int = 0

    def trouble(self, now: datetime) -> str | None:
        """Return what is wrong with it, or None; a job that never began is fine."""
        pulse = self.pulse
        if pulse is None:
            return None
        at_work = pulse.lease_until is not None and pulse.lease_until > now
        failures = pulse.tries - 1 if at_work else pulse.tries
        if failures >= MOST_TRIES:
            return f"{self.name} did not succeed in {failures} runs"
        if pulse.done_at and now - pulse.done_at > MOST_PERIODS * self.every + SOME_TIME:
            return (
                f"{self.name} has not succeeded for {(now - pulse.done_at).total_seconds():.0f} s"
            )
        return None

    def last_success(self, now: datetime) -> str:
        if self.pulse is None or self.pulse.done_at is None:
            return f"{self.name} not yet"
        failed = f" (failed rows: {self.failed})" if self.failed else ""
        ago = max(0.0, (now - self.pulse.done_at).total_seconds())
        return f"{self.name} {ago:.0f} s ago{failed}"


def job_reports() -> list[JobReport]:
    """Return the report of each job that runs once for all hosts."""
    pulses, failed = Pulse.objects.in_bulk(), count_failed_rows()
    return [
        JobReport(each.name, each.every, pulses.get(each.name), failed.get(each.name, 0))
        for each in all_jobs().values()
        if not each.on_each_host
    ]
