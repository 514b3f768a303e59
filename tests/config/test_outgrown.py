"""A web process that has grown too large is replaced, and no request is lost."""

import mmap
import multiprocessing

from config.door import outgrown
from config.door.outgrown import LEAST_GROWTH, MIB, OneAtATime, Outgrown, resident_bytes


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


def test_process_that_shrank_gets_a_new_grace_period() -> None:
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


def test_no_process_goes_without_a_limit() -> None:
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
    # Map pages directly: the allocator may return cached ones.
    with mmap.mmap(-1, 64 * MIB) as pages:
        for page in range(0, len(pages), mmap.PAGESIZE):
            pages[page] = 1
        grown = resident_bytes() - before

    assert grown > 32 * MIB
