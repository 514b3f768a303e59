"""The keeper of a worker's engine processes, in a process of its own."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from core.jobs.bell import Bell
from core.jobs.forking import fork_into
from deliveries.engine import processes
from deliveries.engine.beside import Beside
from tools.faults.processes import wait_until_gone

# A busy machine takes its time; what goes wrong takes for ever.
SECONDS = 60


class Work:
    """What is kept running: it says its id, and sleeps."""

    def __init__(self) -> None:
        self.mouth, self.ear = os.pipe()[::-1]

    def __call__(self) -> None:
        os.write(self.mouth, b"%d\n" % os.getpid())
        time.sleep(3600)

    def said(self) -> int:
        """The id of the next process that has started."""
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self.ear, 1)
        return int(line)


@pytest.fixture
def keep() -> Iterator[Callable[..., int]]:
    """Starts a keeper of these works; returns its id."""
    keepers = []

    def start(*works: Work) -> int:
        keepers.append(fork_into(lambda: processes.keep_working(works)))
        return keepers[-1]

    yield start
    for keeper in keepers:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(keeper, signal.SIGKILL)
            os.waitpid(keeper, 0)


def test_each_work_has_a_process_and_a_new_one_once_that_has_died(
    keep: Callable[..., int],
) -> None:
    one, other = Work(), Work()
    keeper = keep(one, other)
    first, kept = one.said(), other.said()

    os.kill(first, signal.SIGKILL)
    second = one.said()
    os.kill(keeper, signal.SIGTERM)

    assert wait_until_gone([keeper, first, second, kept], SECONDS) == 0
    assert len({first, second, kept, keeper}) == 4


def test_a_keeper_that_is_stopped_while_it_forks_leaves_nobody_behind(
    keep: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the new process has never heard that it should end, and nobody waits for it."""
    fork, tests = os.fork, os.getpid()

    def fork_and_be_stopped() -> int:
        child = fork()
        if child and os.getpid() != tests:
            os.kill(os.getpid(), signal.SIGTERM)
        return child

    monkeypatch.setattr(os, "fork", fork_and_be_stopped)

    assert wait_until_gone([keep(Work(), Work())], SECONDS) == 0


def test_a_loop_that_yields_leaves_no_connection(
    monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    used: list[Any] = []

    def ask() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        used.append(connection.connection)

    def engine(transport: object, stop: object, beside: Beside, bell: Bell) -> SimpleNamespace:
        return SimpleNamespace(run=lambda: beside.finish(ask))

    monkeypatch.setattr(processes, "Engine", engine)

    processes.run_engine(lambda: False, Bell())

    assert used[0].closed
