"""What processes load before they are forked, and the garbage collector in those that live long."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest
from celery.signals import worker_process_init

from config import celery, memory


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_looks_no_more_at_what_is_loaded() -> None:
    memory.settle()

    assert gc.get_freeze_count() > 10 * len(gc.get_objects())


def test_each_process_of_a_worker_settles() -> None:
    gc.unfreeze()

    worker_process_init.send(sender=None, instance=celery.app)

    assert gc.get_freeze_count() > 10_000


# A process of the web is forked with so much, and then asked whether it is ready.
FORKED = """
import sys
import config.wsgi
before = set(sys.modules)
from django.test import RequestFactory
from core.watch.readiness import readyz
readyz(RequestFactory().get("/readyz"))
print(*sorted(set(sys.modules) - before))
"""


def test_a_child_loads_neither_the_broker_s_client_nor_migrations() -> None:
    """Each would have them for itself: 24 MB."""
    ran = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)

    loaded = ran.stdout.splitlines()[-1].split()
    assert [name for name in loaded if name.startswith(("redis", "kombu", "amqp"))] == []
    assert [name for name in loaded if ".migrations." in name] == []
