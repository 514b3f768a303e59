"""Modules loaded before a fork, and the garbage collector of processes that live long."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest
from celery.signals import worker_process_init
from django.test import RequestFactory

from config import celery, memory, pages


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_collector_ignores_loaded_objects() -> None:
    memory.settle()

    assert gc.get_freeze_count() > 10 * len(gc.get_objects())


def test_each_process_of_a_worker_settles() -> None:
    gc.unfreeze()

    worker_process_init.send(sender=None, instance=celery.app)

    assert gc.get_freeze_count() > 10_000


# A web process forks with these modules, and is then asked whether it is ready.
FORKED = """
import sys
import config.wsgi
before = set(sys.modules)
from django.test import RequestFactory
from core.watch.readiness import readyz
readyz(RequestFactory().get("/readyz"))
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.slow
def test_a_child_loads_neither_the_broker_s_client_nor_migrations() -> None:
    """Load them nowhere: each child would need 24 MB."""
    ran = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)

    loaded = ran.stdout.splitlines()[-1].split()
    assert [name for name in loaded if name.startswith(("redis", "kombu", "amqp"))] == []
    assert [name for name in loaded if ".migrations." in name] == []


# Runs before the web process forks, then says whether a second description is identical.
DESCRIBED = """
import config.wsgi
from config import pages
made = pages.Description.file
print(made.content == pages.describe())
"""


@pytest.mark.slow
def test_processes_of_the_web_share_the_description_of_the_api() -> None:
    """Share it: each process would need 15 MB for its own."""
    ran = subprocess.run(
        [sys.executable, "-c", DESCRIBED], capture_output=True, text=True, check=True
    )

    assert ran.stdout.splitlines()[-1] == "True"


def test_description_is_built_once(rf: RequestFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.Description, "file", None)
    monkeypatch.setattr(pages, "describe", lambda: b"{}")
    pages.Description.load()
    monkeypatch.setattr(pages, "describe", None)

    answer = pages.schema(rf.get("/schema"))

    assert answer.content == b"{}"
    unchanged = pages.schema(rf.get("/schema", headers={"If-None-Match": answer["ETag"]}))
    assert unchanged.status_code == 304


def test_a_description_that_fails_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> bytes:
        raise ValueError("no")

    monkeypatch.setattr(pages, "describe", fail)

    with pytest.raises(RuntimeError, match="status 1"):
        pages.describe_in_child()
