"""The Celery app of workers."""

import os
from contextlib import ExitStack
from logging.config import dictConfig
from typing import Any

import billiard.pool
from celery import Celery, platforms
from celery.signals import (
    celeryd_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
)
from django.conf import settings
from kombu.transport import virtual

from config.memory import load_broker, load_registered, settle
from config.one_deployment import refuse_second_deployment
from config.startup import refuse_unreadable_settings, refuse_unsafe_settings
from core.data import database
from core.jobs.forking import end_with_parent
from core.watch import request_ids, traces
from core.watch.process_kinds import become_kind, end_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# config.startup runs the checks of settings. Celery would run all checks, and load every desk page.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

app = Celery("parceldesk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def before_configuring(**_: object) -> None:
    """Refuse unreadable settings at Celery's first read, which comes before every other hook."""
    refuse_unreadable_settings()


app.on_configure.connect(before_configuring)


@setup_logging.connect
def set_up_logging(**_: object) -> None:
    """Use our LOGGING instead of Celery's own format and level."""
    dictConfig(settings.LOGGING)


@celeryd_init.connect
def before_start(**_: object) -> None:
    become_kind("worker")
    refuse_unsafe_settings()
    refuse_second_deployment()


# A process of the pool that ends waits until the worker has read its results. A stopping worker may
# read no more, and each stop would take half a minute, longer than platforms may wait. Nobody needs
# the results: rows say what is left to do, and a doorbell may ring twice. 20 tries are two seconds.
billiard.pool.GUARANTEE_MESSAGE_CONSUMPTION_RETRY_LIMIT = 20
# Billiard's own function needs cffi, which costs each process of the pool 6 MB.
platforms._set_pdeathsig = end_with_parent  # type: ignore[attr-defined]
# Unacknowledged messages are not restored on close: with the broker gone, kombu raises an
# AttributeError there, which ends the worker. They are doorbells; rows say what is left to do.
virtual.Channel.do_restore = False


@worker_init.connect
def before_fork(**_: object) -> None:
    database.wait_at_most()
    load_broker()
    load_registered()
    settle()


@worker_process_init.connect
def after_fork(**_: object) -> None:
    settle()


running: dict[str, ExitStack] = {}


@task_prerun.connect
def begin_run(task_id: str, task: Any, **_: object) -> None:
    """Take over the id and trace of the request that sent the task, for rows and log lines."""
    headers = task.request.headers or {}
    running[task_id] = stack = ExitStack()
    request_id = str(headers.get(request_ids.CELERY_HEADER) or "")
    stack.enter_context(request_ids.request_scope(request_id))
    parent = str(headers.get(traces.TRACEPARENT) or "")
    span = traces.tracer.span(task.name, kind="consumer", parent=parent, task=task.name)
    stack.enter_context(span)


@task_postrun.connect
def end_run(task_id: str, **_: object) -> None:
    if task_id in running:
        running.pop(task_id).close()


@worker_process_shutdown.connect
def before_end(**_: object) -> None:
    end_process()
