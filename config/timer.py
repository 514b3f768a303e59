"""The Celery app of beat: it sends the periodic tasks by name, and loads none of them.

Neither Django's apps nor the tasks are needed for that, which halves its memory.
"""

import os

from celery import Celery
from celery.beat import Service
from celery.signals import beat_init

from companies.process_kinds import become_kind
from config import beat
from config.celery import before_configuring
from config.startup import refuse_unsafe_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("parceldesk", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.on_configure.connect(before_configuring)


@beat_init.connect
def check_before_beat(**_: object) -> None:
    become_kind("beat")
    refuse_unsafe_settings()


@beat_init.connect
def begin_at_once(sender: Service, **_: object) -> None:
    beat.make_often_due(sender.scheduler.schedule.values())
