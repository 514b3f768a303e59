"""The scheduler: a process of each worker that runs the jobs which are due.

It looks every few seconds at when each job last began: that needs neither the broker nor a clock
that workers share. A job that is quick runs here; one that is long, was long, or failed last time
runs in a child, so that it holds up no other. Of two schedulers that see a job due, one takes its
lease. A scheduler that hangs in a job ends with that job's time limit, and its worker starts it
again.
Why: decision page engine-the-scheduler-needs-no-broker.
"""

import logging
import math
import os
import random
import select
import signal
import time
from functools import partial
from typing import NamedTuple

from django.db import (
    InterfaceError,
    OperationalError,
    connection,
)

from core.data import database
from core.jobs.bell import Bell
from core.jobs.deployments import deployment_id
from core.jobs.forking import fork_into
from core.jobs.job import Job, JobState, all_jobs, job_states
from core.watch import request_ids, traces
from core.watch.process_kinds import become_kind

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 3.0
# A job that took longer has its next run in a child.
QUICK_SECONDS = 1.0
# A job without work runs once in this time, which shows that it is still scheduled.
QUIET_SECONDS = 60.0
# Limit of a statement of a quick job.
PATIENCE_SECONDS = 3.0
# Time for a job at work here to end once the worker stops.
STOP_WITHIN_SECONDS = 5
# A scheduler repeats the jobs of each host after a share of their period that it draws once:
# workers that start together would otherwise examine the same servers at the same moment each time.
PACES = (0.9, 1.1)
NEVER = JobState(age=math.inf, at_work=False, tries=0)


class Child(NamedTuple):
    """A child at work: its job, and when it began by the clock of this process."""

    job: Job
    began: float


class Scheduler:
    """State of a scheduler: its children, and the jobs that took long or left work."""

    def __init__(self) -> None:
        self.stopping = False
        self.pace = random.uniform(*PACES)  # noqa: S311 - no secret
        self.children: dict[int, Child] = {}
        self.long: set[Job] = set()
        self.unfinished: set[Job] = set()
        # Time of the last start of each job in this process.
        self.last_begins: dict[Job, float] = {}

    def run_due_jobs(self) -> float:
        """Run each job that is due; return the number of seconds until the next look.

        Raises OperationalError and InterfaceError.
        """
        self.reap()
        states = job_states()
        at_work = {child.job for child in self.children.values()}
        wait = LOOK_EVERY_SECONDS
        for job in all_jobs().values():
            state = states.get(job.name, NEVER)
            if self.stopping or job in at_work or not self.is_due(job, state):
                continue
            try:
                if self.run(job, state):
                    wait = min(wait, job.every.total_seconds())
            except (OperationalError, InterfaceError):
                # It runs in a child next time, or the next look would end here as well.
                self.long.add(job)
                raise
            except Exception:
                logger.exception("%s failed", job.name, extra={"job": job.name})
        return 0.0 if self.unfinished else wait

    def is_due(self, job: Job, state: JobState) -> bool:
        every = job.every.total_seconds()
        looked = time.monotonic() - self.last_begins.get(job, -math.inf)
        if job.on_each_host:
            return looked >= self.pace * every
        if state.at_work:
            # The run at work takes care of the rest.
            self.unfinished.discard(job)
            return False
        if job in self.unfinished or self.is_at_start(job):
            return True
        return state.age >= every and (job.has_work is None or looked >= every)

    def is_at_start(self, job: Job) -> bool:
        return job.at_start and job not in self.last_begins

    def run(self, job: Job, state: JobState) -> int | None:
        """Run it here or in a child; return how many things a run here did."""
        rested = job not in self.unfinished and not self.is_at_start(job)
        began = self.last_begins[job] = time.monotonic()
        self.unfinished.discard(job)
        apart = job in self.long or state.tries > 0
        has_work = apart or job.has_work is None or job.has_work()
        if not has_work and state.age < QUIET_SECONDS:
            return None
        if apart or (has_work and job.in_child):
            # A child must not inherit a connection: both would use it.
            connection.close()
            child = fork_into(partial(run_in_child, job, rested=rested))
            self.children[child] = Child(job, began)
            return None
        count = run_traced(job, rested=rested)
        self.note_length(job, time.monotonic() - began)
        if job.has_more(count):
            self.unfinished.add(job)
        return count

    def note_length(self, job: Job, seconds: float) -> None:
        if seconds > QUICK_SECONDS:
            self.long.add(job)
        else:
            self.long.discard(job)

    def reap(self) -> None:
        for pid, child in list(self.children.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del self.children[pid]
            self.note_length(child.job, time.monotonic() - child.began)
            if status:
                name = child.job.name
                logger.error("%s ended with status %d", name, status, extra={"job": name})

    def stop(self) -> None:
        """Begin no more jobs, and end what is at work here within STOP_WITHIN_SECONDS."""
        self.stopping = True
        signal.alarm(STOP_WITHIN_SECONDS)
        for child in self.children:
            os.kill(child, signal.SIGTERM)


def run_in_child(job: Job, *, rested: bool = False) -> None:
    """Run a job in a child to its end, batch by batch, each within its time limit."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    database.wait_at_most()
    more = job.has_more(run_traced(job, rested=rested))
    while more:
        more = job.has_more(run_traced(job))


def run_traced(job: Job, *, rested: bool = False) -> int | None:
    with request_ids.request_scope(), traces.tracer.span(job.name, kind="consumer", job=job.name):
        return job.run_within_limit(rested=rested)


def run_scheduler() -> None:
    """Run due jobs, in a child of the worker, until SIGTERM."""
    become_kind("scheduler")
    database.wait_at_most(PATIENCE_SECONDS)
    scheduler, bell = Scheduler(), Bell()

    def stop(*_: object) -> None:
        scheduler.stop()
        bell.ring()

    signal.signal(signal.SIGTERM, stop)
    # A child that ends is reaped at once.
    signal.signal(signal.SIGCHLD, lambda *_: bell.ring())
    # The first look comes a moment after the start, when the loops are at work.
    wait = LOOK_EVERY_SECONDS
    while not scheduler.stopping:
        select.select([bell], [], [], wait)
        bell.silence()
        if scheduler.stopping:
            break
        wait = LOOK_EVERY_SECONDS
        try:
            # Makes the id known to the worker's main process, which never queries the database.
            deployment_id()
            wait = scheduler.run_due_jobs()
        except (OperationalError, InterfaceError) as error:
            logger.warning("cannot run jobs: %s", error)
            connection.close()
