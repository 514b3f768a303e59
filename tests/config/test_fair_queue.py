"""Whose request a thread takes next."""

from collections.abc import Callable

import pytest

from config.door.fair_queue import FairQueue, who_asks


class Threads:
    """Take work and end it when told to."""

    def __init__(self, threads: int, share: int) -> None:
        self.queue = FairQueue(threads, share, self.start)
        self.at_work: list[str] = []
        self.begun: list[str] = []

    def start(self, work: Callable[[], object]) -> None:
        work()

    def come(self, *names: str) -> None:
        for name in names:
            self.queue.come(name, lambda name=name: self.begin(name))

    def begin(self, name: str) -> None:
        self.at_work.append(name)
        self.begun.append(name)

    def end(self, name: str) -> None:
        self.at_work.remove(name)
        self.queue.done(name)


def test_nobody_has_more_threads_than_a_share_even_while_alone() -> None:
    threads = Threads(8, 2)

    threads.come(*["acme"] * 50)

    assert threads.at_work == ["acme", "acme"]


def test_who_comes_later_finds_a_thread_that_is_free() -> None:
    threads = Threads(8, 2)
    threads.come(*["acme"] * 50)

    threads.come("birch")

    assert threads.at_work == ["acme", "acme", "birch"]


def test_where_all_threads_are_taken_those_who_wait_take_turns() -> None:
    threads = Threads(2, 2)
    threads.come(*["acme"] * 5, "birch", "birch", "cedar")

    for _ in range(6):
        threads.end(threads.at_work[0])

    assert threads.begun[2:] == ["birch", "cedar", "acme", "birch", "acme", "acme"]


def test_everything_is_worked_on_in_the_end_and_nothing_is_kept() -> None:
    threads = Threads(3, 2)
    threads.come(*["acme", "birch", "acme"] * 30)

    while threads.at_work:
        threads.end(threads.at_work[-1])

    assert sorted(threads.begun) == ["acme"] * 60 + ["birch"] * 30
    assert threads.queue.free == 3
    assert not threads.queue.at_work
    assert not threads.queue.ready
    assert not threads.queue.full


@pytest.mark.parametrize(
    ("headers", "address", "who"),
    [
        ({"AUTHORIZATION": "Bearer a", "COOKIE": "sid=b"}, "1.1.1.1", "token Bearer a"),
        ({"COOKIE": "theme=dark; sid=b"}, "1.1.1.1", "session b"),
        ({"COOKIE": "theme=dark; ;=;\x00"}, "1.1.1.1", "address 1.1.1.1"),
        ({"X-FORWARDED-FOR": "9.9.9.9"}, "1.1.1.1", "address 1.1.1.1"),
        ({"X-FORWARDED-FOR": "9.9.9.9, 2.2.2.2"}, None, "address 2.2.2.2"),
        ({}, None, "address "),
    ],
)
def test_who_asks(headers: dict[str, str], address: str | None, who: str) -> None:
    assert who_asks(headers.items(), "sid", address) == who
