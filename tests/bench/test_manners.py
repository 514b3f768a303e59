"""The receiver of the benchmarks: its responses, their delays, and what it reports of them."""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tools.bench.manners import ELSEWHERE, OK, RESET, Manners, Reaction
from tools.bench.progress import until
from tools.bench.receiver import EVERYWHERE, Receiver
from tools.dev.trouble import UsageError


def reaction(manners: Manners, path: str, now: float = 100.0) -> Reaction:
    return manners.react(f"POST {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode(), now)


@pytest.mark.parametrize("path", ["/in", "/", "/7", "/in/silent", "/silently", "/slower/2"])
def test_most_paths_are_answered_at_once(path: str) -> None:
    assert reaction(Manners(), path) == (100.0, OK)


@pytest.mark.parametrize("path", ["/silent", "/silent/7"])
def test_a_silent_path_is_never_answered(path: str) -> None:
    assert reaction(Manners(), path).at == math.inf


def test_a_slow_path_says_how_slow() -> None:
    assert reaction(Manners(), "/slow/4.5/7") == (104.5, OK)


def test_a_path_may_fall_silent() -> None:
    manners = Manners()
    before = reaction(manners, "/fall/7")

    manners.silent = True

    assert before == (100.0, OK)
    assert reaction(manners, "/fall/7").at == math.inf
    assert reaction(manners, "/in") == (100.0, OK)


def test_paths_choose_other_statuses() -> None:
    assert reaction(Manners(), "/reset/7") == (100.0, RESET)
    assert reaction(Manners(), "/redirect/7") == (100.0, ELSEWHERE)


def test_a_small_server_answers_as_many_at_a_time_as_it_has_workers() -> None:
    manners = Manners()

    answered = [reaction(manners, "/small/2/0.5/a").at for _ in range(5)]

    assert answered == [100.5, 100.5, 101.0, 101.0, 101.5]
    assert reaction(manners, "/small/2/0.5/another").at == 100.5
    assert reaction(manners, "/small/2/0.5/a", now=200.0).at == 200.5


Ask = Callable[..., HTTPConnection]


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    with Receiver(tmp_path, listen=EVERYWHERE) as receiver:
        yield receiver


@pytest.fixture
def ask(receiver: Receiver) -> Iterator[Ask]:
    """Yield a function that sends a request; the connection is closed after the test."""
    with ExitStack() as opened:

        def send(path: str, host: str = "127.0.0.1") -> HTTPConnection:
            asking = HTTPConnection(host, receiver.port, timeout=30)
            opened.callback(asking.close)
            asking.request("POST", path, body=b"x")
            return asking

        yield send


def test_it_is_on_every_loopback_address(receiver: Receiver, ask: Ask) -> None:
    statuses = [ask("/in", host).getresponse().status for host in ("127.0.0.1", "127.9.8.7")]

    assert statuses == [200, 200]
    assert receiver.count() == 2


def test_a_later_answer_does_not_hold_up_others(receiver: Receiver, ask: Ask) -> None:
    slow, silent = ask("/slow/0.2"), ask("/silent")
    ask("/in").getresponse()
    slow.getresponse()

    first, later, never = sorted(receiver.arrivals(), key=lambda each: each.answered_at or math.inf)
    assert (first.path, later.path, never.path) == ("/in", "/slow/0.2", "/silent")
    assert later.answered_at - later.at >= 0.2
    assert (receiver.count(), receiver.pending()) == (2, 1)
    silent.close()
    until(lambda: receiver.pending() == 0, "the silent connection was not missed")


def test_disconnected_client_is_not_answered(receiver: Receiver, ask: Ask) -> None:
    ask("/small/1/0.1").close()
    ask("/small/1/0.1").getresponse()

    assert [arrival.answered for arrival in receiver.arrivals()] == [False, True]


def test_answers_to_cleared_requests_are_not_counted(receiver: Receiver, ask: Ask) -> None:
    slow = ask("/slow/0.2")
    until(lambda: receiver.pending() == 1, "the request did not arrive")

    receiver.clear()
    slow.getresponse()

    assert receiver.count() == 0


def test_a_reset_and_a_redirect(receiver: Receiver, ask: Ask) -> None:
    assert ask("/redirect").getresponse().status == 302
    with pytest.raises(ConnectionResetError):
        ask("/reset").getresponse()


def test_occupied_port_is_reported(receiver: Receiver, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"no receiver can listen at 127.0.0.1:{receiver.port}"):
        Receiver(tmp_path, listen=f"127.0.0.1:{receiver.port}")
