"""The keeper of a worker's engine processes, in a process of its own."""

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, connections

from core.jobs.bell import Bell
from core.jobs.forking import fork_into
from deliveries.engine import leases, processes, signs
from deliveries.engine.processes import LoopWork
from deliveries.engine.runner import Runner
from deliveries.engine.signs import Sign
from tools.faults.processes import children_of, wait_until_gone
from tools.faults.scenarios import until

# A busy machine takes its time; failures would otherwise hang for ever.
SECONDS = 60


class Work:
    """A kept process: it writes its id, and sleeps."""

    def __init__(self) -> None:
        self.mouth, self.ear = os.pipe()[::-1]

    def __call__(self) -> None:
        os.write(self.mouth, b"%d\n" % os.getpid())
        time.sleep(3600)

    def next_id(self) -> int:
        """Return the id of the next process that starts."""
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self.ear, 1)
        return int(line)


@pytest.fixture
def keep() -> Iterator[Callable[..., int]]:
    """Return a function that starts a keeper of these works and returns its id."""
    keepers = []

    def start(*works: Work, loops: Sequence[LoopWork] = ()) -> int:
        keepers.append(fork_into(lambda: processes.supervise(works, loops)))
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
    first, second_process = one.next_id(), other.next_id()

    os.kill(first, signal.SIGKILL)
    second = one.next_id()
    os.kill(keeper, signal.SIGTERM)

    assert wait_until_gone([keeper, first, second, second_process], SECONDS) == 0
    assert len({first, second, second_process, keeper}) == 4


def test_a_keeper_that_is_stopped_while_it_forks_leaves_nobody_behind(
    keep: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """End it too: the new process has not received the signal, and nobody waits for it."""
    fork, tests = os.fork, os.getpid()

    def fork_and_be_stopped() -> int:
        child = fork()
        if child and os.getpid() != tests:
            os.kill(os.getpid(), signal.SIGTERM)
        return child

    monkeypatch.setattr(os, "fork", fork_and_be_stopped)

    assert wait_until_gone([keep(Work(), Work())], SECONDS) == 0


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> Sequence[LoopWork]:
    """Make stand-ins for loops that do nothing: the test writes their signs."""
    work = Work()
    monkeypatch.setattr(processes, "run_loop", lambda bell, sign: work())
    monkeypatch.setattr(LoopWork, "next_id", lambda self: work.next_id(), raising=False)
    return [LoopWork(Bell(), Sign()) for _ in range(2)]


def calm(loop: LoopWork, *, idle_seconds: float = 0.0) -> None:
    loop.sign.write(math.inf, -math.inf, time.monotonic() - idle_seconds)


def press(loop: LoopWork) -> None:
    loop.sign.write(math.inf, math.inf, time.monotonic())


def silence(loop: LoopWork) -> None:
    loop.sign.write(-math.inf, -math.inf, time.monotonic())


def started(loops: Sequence[LoopWork]) -> int:
    process: int = loops[0].next_id()  # type: ignore[attr-defined]
    return process


@pytest.mark.parametrize("trouble", [press, silence])
def test_another_loop_starts_once_the_first_is_pressed_or_silent(
    keep: Callable[..., int], loops: Sequence[LoopWork], trouble: Callable[[LoopWork], None]
) -> None:
    keeper = keep(loops=loops)
    first = started(loops)
    calm(loops[0])
    time.sleep(4 * processes.LOOK_SECONDS)
    assert children_of(keeper) == [first]

    trouble(loops[0])

    assert {first, started(loops)} == set(children_of(keeper))


def test_there_are_no_more_loops_than_bells(
    keep: Callable[..., int], loops: Sequence[LoopWork]
) -> None:
    keeper = keep(loops=loops)
    processes_of_loops = []
    for loop in loops:
        processes_of_loops.append(started(loops))
        press(loop)

    time.sleep(4 * processes.LOOK_SECONDS)

    assert sorted(children_of(keeper)) == sorted(processes_of_loops)


def test_a_loop_that_dies_is_replaced_and_another_goes_on_meanwhile(
    keep: Callable[..., int], loops: Sequence[LoopWork]
) -> None:
    keeper = keep(loops=loops)

    os.kill(started(loops), signal.SIGKILL)

    assert {started(loops), started(loops)} == set(children_of(keeper))


def test_a_loop_that_nobody_needs_ends_and_comes_back(
    keep: Callable[..., int], loops: Sequence[LoopWork]
) -> None:
    keeper = keep(loops=loops)
    first = started(loops)
    press(loops[0])
    second = started(loops)

    calm(loops[1], idle_seconds=3 * signs.SPARE_SECONDS)
    time.sleep(4 * processes.LOOK_SECONDS)
    assert sorted(children_of(keeper)) == sorted([first, second])
    calm(loops[0])
    until(lambda: children_of(keeper) == [first], SECONDS)
    calm(loops[0], idle_seconds=3 * signs.SPARE_SECONDS)
    time.sleep(4 * processes.LOOK_SECONDS)
    assert children_of(keeper) == [first]

    press(loops[0])
    assert {first, started(loops)} == set(children_of(keeper))


def test_a_keeper_that_is_stopped_ends_all_loops(
    keep: Callable[..., int], loops: Sequence[LoopWork]
) -> None:
    keeper = keep(loops=loops)
    first = started(loops)
    press(loops[0])
    second = started(loops)

    os.kill(keeper, signal.SIGTERM)

    assert wait_until_gone([keeper, first, second], SECONDS) == 0


def test_a_loop_that_freezes_has_lost_its_locks_when_others_take_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mouth, ear = os.pipe()[::-1]

    def tell_limit(*_: object) -> None:
        limit = connections.settings["default"]["IDLE_IN_TRANSACTION_SECONDS"]
        os.write(mouth, b"%g" % limit)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(processes, "run_engine", tell_limit)

    child = fork_into(lambda: processes.run_loop(Bell(), Sign()))

    assert os.waitpid(child, 0)[1] == 0
    longest = leases.LEASE_SECONDS - leases.HEARTBEAT_SECONDS
    assert float(os.read(ear, 10)) < longest


def test_a_loop_that_yields_leaves_no_connection(
    monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    used: list[Any] = []

    def ask() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        used.append(connection.connection)

    def engine(transport: object, stop: object, runner: Runner, *_: object) -> SimpleNamespace:
        return SimpleNamespace(run=lambda: runner.run(ask))

    monkeypatch.setattr(processes, "Engine", engine)

    processes.run_engine(lambda: False, Bell(), Sign())

    assert used[0].closed
