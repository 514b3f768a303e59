"""Periodic tasks: one run of a kind at a time, over all workers, and a row that says how it goes.

Whoever starts a run first takes the kind's lease; who finds it taken leaves it at that. A run ends
before its lease does, since its time limit is shorter: so no two runs of a kind overlap. Work that
may take long is done in batches, a batch a run, and rings for the next, so that whatever waits in
the queue meanwhile has its turn.
Why: decision page engine-periodic-tasks-run-one-at-a-time.
"""

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from celery import Task, shared_task
from django.conf import settings
from django.db import connection

from companies import deployments, doorbell
from companies.failing_rows import count_failed_rows
from companies.measures import catalogue, counting, sums
from deliveries.models import Pulse

# How much longer a lease is than the time limit of the run that holds it.
MARGIN_SECONDS = 5

# A task is in trouble after so many runs without success, or where none succeeded in so long.
MOST_TRIES = 3
MOST_PERIODS = 3
SOME_TIME = timedelta(minutes=5)

BEGIN = """
INSERT INTO deliveries_pulse AS pulse (name, at, begun_at, run, lease_until, tries)
VALUES (%(name)s, CASE WHEN %(rung)s THEN statement_timestamp() END, statement_timestamp(),
  %(run)s, statement_timestamp() + make_interval(secs => %(lease)s), 1)
ON CONFLICT (name) DO UPDATE SET
  at = coalesce(excluded.at, pulse.at), begun_at = excluded.begun_at, run = excluded.run,
  lease_until = excluded.lease_until, tries = least(pulse.tries + 1, 30000)
WHERE coalesce(pulse.lease_until <= statement_timestamp(), true)
"""

END = """
UPDATE deliveries_pulse SET lease_until = NULL,
  tries = CASE WHEN %(done)s THEN 0 ELSE tries END,
  done_at = CASE WHEN %(done)s THEN statement_timestamp() ELSE done_at END
WHERE name = %(name)s AND run = %(run)s
"""


class PeriodicTask(Task[[], int | None]):
    """Celery's task; `batch` is how many things a run does that leaves some to the next."""

    batch: int | None = None

    def has_more(self, done: int | None) -> bool:
        """Whether a run that did so many things has probably left some."""
        return done is not None and self.batch is not None and done >= self.batch


def periodic_task(
    *, limit_seconds: int, batch: int | None = None
) -> Callable[[Callable[[], int]], PeriodicTask]:
    """Make a Celery task of a function that returns how many things it did.

    The task returns that number, or None where another run of it is at work. A run is killed
    after `limit_seconds`. Having done `batch` things or more it rings for another run.
    """

    def make_task(work: Callable[[], int]) -> PeriodicTask:
        @shared_task(bind=True, base=PeriodicTask, time_limit=limit_seconds, batch=batch)
        @wraps(work)
        def run_once(self: PeriodicTask) -> int | None:
            # Called as a function, it is not beat that asks, nor anybody through the broker.
            rung = not self.request.called_directly
            if rung and rung_by_another(self.request.headers):
                return None
            done = run_exclusively(work, rung=rung, lease_seconds=limit_seconds + MARGIN_SECONDS)
            if rung and self.has_more(done):
                doorbell.ring(self.name, expires=60)
            return done

        return run_once

    return make_task


def rung_by_another(headers: Mapping[str, Any] | None) -> bool:
    """Whether another deployment has rung for a task (decision N29)."""
    # So that it is known which one this is.
    deployments.deployment_id()
    return deployments.is_foreign(headers)


def run_exclusively(work: Callable[[], int], *, rung: bool, lease_seconds: int) -> int | None:
    """Call `work` under the lease of its name and note how it went; None if the lease is taken."""
    name, run = work.__name__, uuid4()
    with connection.cursor() as cursor:
        cursor.execute(BEGIN, {"name": name, "run": run, "rung": rung, "lease": lease_seconds})
        if not cursor.rowcount:
            return None
    began = time.monotonic()
    try:
        result = work()
    except BaseException:
        count_run(name, "failed", time.monotonic() - began)
        end(name, run, done=False)
        sums.write_sums()
        raise
    count_run(name, "done", time.monotonic() - began)
    end(name, run, done=True)
    # This process may have nothing to do for long, or end at once.
    sums.write_sums()
    return result


def count_run(name: str, outcome: str, seconds: float) -> None:
    counting.count(catalogue.TASK_RUNS, name, outcome)
    counting.count(catalogue.TASK_SECONDS, name, by=seconds)


def end(name: str, run: UUID, *, done: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(END, {"name": name, "run": run, "done": done})


class Periodic(NamedTuple):
    """A task of the schedule: its Celery name, its period, and its row once it has run.

    `failed` counts the rows that it goes on without (companies.failing_rows).
    """

    task: str
    every: timedelta
    pulse: Pulse | None
    failed: int = 0

    @property
    def name(self) -> str:
        return self.task.rpartition(".")[2]

    def trouble(self, now: datetime) -> str | None:
        """What is wrong with it, if anything is. A task that never began is not its own fault."""
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


def scheduled_tasks() -> list[Periodic]:
    """All of the schedule, in its order."""
    pulses, failed = Pulse.objects.in_bulk(), count_failed_rows()
    found = []
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        name = entry["task"].rpartition(".")[2]
        every = timedelta(seconds=entry["schedule"])
        found.append(Periodic(entry["task"], every, pulses.get(name), failed.get(name, 0)))
    return found


def database_time() -> datetime:
    """The time by which pulses are written."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now
