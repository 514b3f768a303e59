"""Turns at the threads, shared fairly between callers."""

import pytest

from config.door.fair_queue import HASHING, REST_SECONDS, FairQueue, ThreadTurn, Work


class Threads:
    """Take work and end it on command, with a clock that the test moves."""

    def __init__(self, threads: int, share: int) -> None:
        self.queue = FairQueue(threads, share, self.start, lambda: self.now, hashing=2)
        self.at_work: list[ThreadTurn] = []
        self.started: list[str] = []
        self.now = 1000.0

    def start(self, work: Work, turn: ThreadTurn) -> None:
        work(turn)

    def add(self, *names: str) -> None:
        for name in names:
            self.queue.add(name, self.begin)

    def begin(self, turn: ThreadTurn) -> None:
        self.at_work.append(turn)
        self.started.append(turn.row)

    def end(self, place: int = 0, status: int = 200) -> None:
        self.queue.finish(self.at_work.pop(place), status)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.queue.start_ready()

    @property
    def names(self) -> list[str]:
        return [turn.row for turn in self.at_work]


def test_nobody_has_more_than_one_thread_even_while_alone() -> None:
    threads = Threads(8, 2)

    threads.add(*["acme"] * 50)
    assert threads.names == ["acme"]
    threads.end()

    assert threads.names == ["acme"]


def test_later_caller_finds_a_free_thread() -> None:
    threads = Threads(8, 2)
    threads.add(*["acme"] * 50)

    threads.add("birch")

    assert threads.names == ["acme", "birch"]


@pytest.mark.parametrize("status", [401, 429, 503])
def test_refused_caller_rests_and_nobody_else(status: int) -> None:
    threads = Threads(8, 2)
    threads.add(*["acme"] * 50, "birch", "birch")

    threads.end(status=status)
    threads.end(status=200)
    assert threads.names == ["birch"]
    assert threads.queue.longest_wait() == pytest.approx(REST_SECONDS)

    threads.wait(REST_SECONDS + 0.001)
    assert threads.names == ["birch", "acme"]
    assert not threads.queue.resting


def test_a_rest_begins_anew_with_each_answer() -> None:
    threads = Threads(8, 2)
    threads.add("acme", "birch")
    threads.end(status=429)
    threads.wait(REST_SECONDS / 2)
    threads.end(status=429)

    threads.add("acme", "birch")
    threads.wait(REST_SECONDS / 2 + 0.001)

    assert threads.names == ["acme"]
    assert threads.queue.longest_wait() == pytest.approx(REST_SECONDS / 2 - 0.001)


def test_nobody_is_woken_by_a_rest_that_is_over_while_no_thread_is_free() -> None:
    """Do not wake it, or the event loop would spin and take the processor from the threads."""
    threads = Threads(1, 1)
    threads.add("acme")
    threads.end(status=429)
    threads.add("birch", "acme")

    threads.wait(2 * REST_SECONDS)

    assert threads.names == ["birch"]
    assert threads.queue.longest_wait() > REST_SECONDS


def test_row_has_more_threads_up_to_its_share_during_slow_work() -> None:
    threads = Threads(8, 2)
    threads.add(*["acme"] * 50)

    threads.wait(0.2)
    assert threads.names == ["acme"]
    threads.wait(0.1)
    assert threads.names == ["acme", "acme"]
    threads.end(1)
    assert threads.names == ["acme", "acme"]
    threads.wait(9)

    assert threads.names == ["acme", "acme"]


def test_waiting_callers_take_turns_at_busy_threads() -> None:
    threads = Threads(2, 1)
    threads.add(*["acme"] * 4, "birch", "birch", "cedar", "cedar")

    while threads.at_work:
        threads.end()

    assert threads.started[2:] == ["acme", "birch", "cedar", "acme", "cedar", "acme"]


def test_everything_is_worked_on_in_the_end_and_nothing_is_kept() -> None:
    threads = Threads(3, 2)
    threads.add(*["acme", "birch", "acme"] * 30)

    while threads.at_work:
        threads.wait(0.1)
        threads.end(-1)

    assert sorted(threads.started) == ["acme"] * 60 + ["birch"] * 30
    assert threads.queue.free == 3
    assert not threads.queue.at_work
    assert not threads.queue.waiting


def test_logins_use_few_threads_and_do_not_delay_pages() -> None:
    threads = Threads(8, 2)
    threads.add(*[f"{HASHING}address {number}" for number in range(50)])

    threads.add("acme", "address 49")

    assert len(threads.names) == 4
    assert threads.names[2:] == ["acme", "address 49"]
    threads.wait(9)
    assert sum(name.startswith(HASHING) for name in threads.names) == 2


def test_each_address_has_its_turn_to_sign_in_however_often_others_try() -> None:
    threads = Threads(8, 2)
    many = f"{HASHING}address 1"
    threads.add(*[many] * 100, *[f"{HASHING}address {number}" for number in range(2, 12)])
    threads.add(f"{HASHING}address 99")

    for _ in range(11):
        threads.end()

    assert f"{HASHING}address 99" in threads.started
    assert threads.started.count(many) <= 3
    while threads.at_work:
        threads.end()
    assert threads.queue.is_empty()


def test_an_address_that_signs_in_twice_takes_no_place_beyond_the_few_of_all() -> None:
    threads = Threads(8, 2)
    threads.add(*[f"{HASHING}address 1"] * 5, *["acme"] * 2)
    threads.wait(9)
    assert threads.names.count(f"{HASHING}address 1") == 2

    threads.add(f"{HASHING}address 2", f"{HASHING}address 3")
    assert sum(name.startswith(HASHING) for name in threads.names) == 2

    threads.end()
    assert f"{HASHING}address 2" in threads.names
