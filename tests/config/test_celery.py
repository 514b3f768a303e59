"""Our changes to Celery's worker."""

import ctypes
import os
import shutil
import signal
import sys
from contextlib import suppress

import billiard.pool
import pytest
from billiard.context import ForkContext
from billiard.pool import Worker
from celery import current_app, platforms
from kombu import Connection
from kombu.simple import SimpleQueue

from config import celery
from core.jobs.forking import fork_into
from tools.dev.places import throwaway_place
from tools.dev.valkey import Valkey


def test_a_process_of_the_pool_waits_for_two_seconds_until_its_results_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert celery.app
    waits: list[float] = []
    monkeypatch.setattr(billiard.pool.time, "sleep", waits.append)
    process = Worker.__new__(Worker)
    process.on_ready_counter = ForkContext().Value("i", 0)

    assert process._ensure_messages_consumed(completed=1) is False
    assert sum(waits) == pytest.approx(2)
    process.on_ready_counter.value = 1
    assert process._ensure_messages_consumed(completed=1) is True


def test_a_broker_that_goes_away_with_a_message_unanswered_does_not_end_the_worker() -> None:
    """Survive Celery's order: it collects the connection first, and closes it then."""
    place = throwaway_place("parceldesk-broker-")
    broker = Valkey(place)
    broker.start_and_wait()
    try:
        connection = Connection(broker.url)
        # A worker has two channels too: the second is for remote control.
        for channel in (connection.default_channel, connection.channel()):
            queue = SimpleQueue(channel, "bell")
            queue.put({"ring": 1})
            assert queue.get(timeout=60)
        with suppress(TimeoutError):
            connection.drain_events(timeout=0.1)
    finally:
        broker.stop()
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)

    connection.collect(socket_timeout=1)
    connection.close()


PR_GET_PDEATHSIG = 2


def test_a_process_of_the_pool_ends_with_its_parent_and_parses_no_c_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert celery.app
    # An import of cffi fails from here on.
    monkeypatch.setitem(sys.modules, "cffi", None)
    monkeypatch.setattr(billiard.util, "cffi", None, raising=False)

    def become_one_of_the_pool() -> None:
        platforms.set_pdeathsig("SIGKILL")
        number = ctypes.c_int()
        ctypes.CDLL(None).prctl(PR_GET_PDEATHSIG, ctypes.byref(number))
        assert number.value == signal.SIGKILL

    assert os.waitpid(fork_into(become_one_of_the_pool), 0)[1] == 0


def test_a_worker_that_waits_for_messages_asks_redis_every_five_seconds() -> None:
    with Connection(
        "redis://", transport_options=current_app.conf.broker_transport_options
    ) as broker:
        assert broker.transport.brpop_timeout == 5
