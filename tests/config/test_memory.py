"""The garbage collector in a process that lives long."""

import gc
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
