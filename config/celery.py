"""The Celery app of workers."""

import os

from celery import Celery
from celery.signals import celeryd_init, worker_init, worker_process_init

from config import database
from config.memory import settle
from config.startup import refuse_unreadable_settings, refuse_unsafe_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Our own checks run before (config.startup). All of them would load every page of the desk.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

app = Celery("parceldesk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def before_configuring(**_: object) -> None:
    """Celery reads the settings before anything else can stop it."""
    refuse_unreadable_settings()


app.on_configure.connect(before_configuring)


@celeryd_init.connect
def before_start(**_: object) -> None:
    refuse_unsafe_settings()


# Longer than PostgreSQL lets a statement take: what it ends itself is not ended here.
PATIENCE_SECONDS = 35.0


@worker_init.connect
def before_fork(**_: object) -> None:
    database.wait_at_most(PATIENCE_SECONDS)
    settle()


@worker_process_init.connect
def after_fork(**_: object) -> None:
    settle()
