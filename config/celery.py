"""The Celery app: workers and beat start from here."""

import os

from celery import Celery
from celery.signals import worker_process_init

from config.memory import settle

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("parceldesk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def after_fork(**_: object) -> None:
    settle()
