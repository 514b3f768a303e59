"""A web process that has grown too large makes room for another, and nothing is lost."""

import mmap
import multiprocessing
import time
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from config.door import outgrown
from config.door.connections import Stage
from config.door.outgrown import LEAST_GROWTH, MIB, OneAtATime, Outgrown, resident_bytes
from tests.config.door import GET, Recorder, opened, read_answer

HELD = GET.replace(b"quick", b"held")


class Process:
    def __init__(self, mib: int = 512) -> None:
        self.now = 1000.0
        self.size = 150 * MIB
        self.outgrown = Outgrown(mib, OneAtATime(), lambda: self.size, lambda: self.now)

    def goes(self, *, quiet: bool) -> bool:
        self.now += outgrown.LOOK_EVERY_SECONDS
        return self.outgrown.should_go(lambda: quiet)


def test_goes_in_a_quiet_moment_or_after_a_while() -> None:
    process = Process()
    assert not process.goes(quiet=True)

    process.size = 513 * MIB
    assert not process.goes(quiet=False)
    assert process.goes(quiet=True)

    assert not process.goes(quiet=False)
    process.now += outgrown.FOR_A_QUIET_MOMENT_SECONDS
    assert process.goes(quiet=False)


def test_a_while_begins_anew_for_whoever_has_shrunk() -> None:
    process = Process()
    process.size = 513 * MIB
    assert not process.goes(quiet=False)
    process.size = 100 * MIB
    process.now += outgrown.FOR_A_QUIET_MOMENT_SECONDS
    assert not process.goes(quiet=True)
    process.size = 513 * MIB

    assert not process.goes(quiet=False)


def test_a_new_process_may_always_grow() -> None:
    process = Process(mib=1)
    process.size += LEAST_GROWTH
    assert not process.goes(quiet=True)
    process.size += 1
    assert process.goes(quiet=True)


def test_no_limit_is_none() -> None:
    process = Process(mib=0)
    process.size = 100_000 * MIB
    assert not process.goes(quiet=True)


def test_one_process_goes_at_a_time() -> None:
    turn = OneAtATime()
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()

    def other() -> None:
        theirs.send(turn.take())
        theirs.recv()

    process = fork.Process(target=other)
    process.start()
    assert ours.recv()
    assert not turn.take()
    ours.send(None)
    process.join(20)
    assert turn.take()


def test_knows_its_size() -> None:
    before = resident_bytes()
    # Pages of the system's own: the allocator may hand out ones that it has kept.
    with mmap.mmap(-1, 64 * MIB) as held:
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
        grown = resident_bytes() - before

    assert grown > 32 * MIB


@pytest.fixture
def application() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.gate.set()


def test_a_process_that_is_too_large_answers_what_has_begun_and_ends(
    application: Recorder, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WEB_MEMORY_MIB = 1
    with opened(application) as door:
        idle = door.connect(GET)
        read_answer(idle)
        held = door.connect(HELD)
        door.has(Stage.ANSWER)
        monkeypatch.setattr(door.worker.outgrown, "size", lambda: 10**15)
        time.sleep(2 * outgrown.LOOK_EVERY_SECONDS)
        assert door.worker.alive
        assert door.ask(GET).startswith(b"HTTP/1.1 200 ")

        monkeypatch.setattr(outgrown, "FOR_A_QUIET_MOMENT_SECONDS", 0.0)
        while door.worker.alive:
            time.sleep(0.01)
        application.gate.set()

        assert read_answer(held).startswith(b"HTTP/1.1 200 ")
        idle.sendall(GET)
        assert b"Connection: close" in read_answer(idle)
        held.close()
        idle.close()
        door.thread.join(20)
        assert not door.thread.is_alive()


def test_a_process_that_makes_room_answers_also_what_takes_half_a_minute(
    application: Recorder,
) -> None:
    with opened(application) as door:
        held = door.connect(HELD)
        door.has(Stage.ANSWER)
        door.worker.alive = False
        while not door.worker.clients.stopping:
            time.sleep(0.01)
        door.later(30)
        door.has(Stage.ANSWER)
        time.sleep(0.3)
        application.gate.set()

        assert read_answer(held).startswith(b"HTTP/1.1 200 ")
        held.close()
        door.thread.join(20)
        assert not door.thread.is_alive()
