"""Periodic tasks without beat and without a broker.

Each worker has a process that looks every few seconds at when the periodic tasks were last begun.
While beat and broker are well it does nothing but look. Where a task has not been rung for, it runs
the task itself, at the task's own pace, in a child that ends with the run. The lease of the task
keeps two of these processes, of several workers, from running it at the same time.

It also takes the runs of deliveries that are sent again a step further, which nobody rings for
(deliveries.upkeep.replaying), and runs doctor's checks on its host every minute (companies.hosts).
Why: decision page engine-sweeps-need-neither-beat-nor-broker.
"""

import logging
import os
import select
import signal
import time
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import partial
from typing import cast

from celery import current_app
from django.db import InterfaceError, OperationalError, connection

from companies import hosts, request_ids, traces
from companies.deployments import deployment_id
from companies.process_kinds import become_kind
from deliveries.engine.bell import Bell
from deliveries.engine.processes import fork_into
from deliveries.upkeep import replaying
from deliveries.upkeep.periodic import PeriodicTask, database_time, scheduled_tasks

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 3.0
# How late a ring may be before beat, or the broker, counts as away.
GRACE = timedelta(seconds=15)
# Beat rings for these only once in its period; what they do should be done when a worker starts.
AT_START = ("deliveries.tasks.make_partitions",)
# On every host, since each may find something else; beat would ring on one.
ON_EACH_HOST = "config.tasks.examine_host"


def keep_house() -> None:
    """In a child: look, and run what is overdue, until SIGTERM."""
    become_kind("housekeeping")
    stopping, bell = False, Bell()
    running: dict[int, str] = {}

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        bell.ring()

    signal.signal(signal.SIGTERM, stop)
    # A child that ends is looked after at once: there may be a next batch.
    signal.signal(signal.SIGCHLD, lambda *_: bell.ring())
    since: datetime | None = None
    wait = LOOK_EVERY_SECONDS
    examine_at = 0.0
    # The first look comes a moment after the start, when the loops are at work.
    while not wait_for_look(bell, lambda: stopping, wait):
        reap(running)
        try:
            now = database_time()
            # For the worker's main process, which asks no database.
            deployment_id()
            due = AT_START if since is None else overdue_tasks(now, since)
            start_runs(due, running)
            if time.monotonic() >= examine_at:
                examine_at = time.monotonic() + hosts.EVERY_SECONDS
                start_runs([ON_EACH_HOST], running)
            since = since or now
            under_way = replaying.step_replays()
            wait = replaying.STEP.total_seconds() if under_way else LOOK_EVERY_SECONDS
        except (OperationalError, InterfaceError) as error:
            logger.warning("cannot look for overdue tasks: %s", error)
            connection.close()
    for child in running:
        os.kill(child, signal.SIGTERM)


def wait_for_look(bell: Bell, is_over: Callable[[], bool], seconds: float) -> bool:
    """Wait until it is time to look again, or somebody rings; whether it is over."""
    select.select([bell], [], [], seconds)
    bell.silence()
    return is_over()


def overdue_tasks(now: datetime, since: datetime) -> list[str]:
    """Tasks that nobody has rung for lately and that are due; `since`: when this process began."""
    overdue = []
    for task in scheduled_tasks():
        begun_at = task.pulse.begun_at if task.pulse else None
        rung_at = (task.pulse.at if task.pulse else None) or since
        away = now - max(rung_at, since) > task.every + GRACE
        if away and (begun_at is None or now - begun_at >= task.every):
            overdue.append(task.task)
    return overdue


def start_runs(tasks: Collection[str], running: dict[int, str]) -> None:
    """Run each that does not run yet in a child; `running` is by the child's id."""
    for name in tasks:
        if name not in running.values():
            # A child must not inherit a connection: both would speak on it.
            connection.close()
            if name != ON_EACH_HOST:
                text = "running %s, for which nobody has rung"
                logger.info(text, name, extra={"task": name})
            running[fork_into(partial(run_task, name))] = name


def run_task(name: str) -> None:
    """In a child: run a task to its end, batch by batch, each within its time limit."""
    task = cast(PeriodicTask, current_app.tasks[name])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Ends this process, as Celery ends its own.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    more = True
    while more:
        signal.alarm(task.time_limit or 0)
        with request_ids.named() as request_id:
            facts = {"task": name, "request_id": request_id}
            with traces.span(name, kind="consumer", **facts):
                more = task.has_more(task())


def reap(running: dict[int, str]) -> None:
    for child in list(running):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            name = running.pop(child)
            if status:
                logger.error("%s ended with status %d", name, status, extra={"task": name})
