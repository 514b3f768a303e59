"""Hostile receivers. Each table runs at once, over one transport."""

import gzip
import resource
from contextlib import closing
from itertools import repeat

import pytest

from deliveries.http.answers import MAX_BODY, Failure
from deliveries.http.transport import Request, Transport
from tests.deliveries.hostile import (
    LOOPBACK,
    OK,
    Habit,
    Outcome,
    Visitor,
    dripping,
    flooding,
    good,
    numbered,
    outcomes,
    receiver,
    saying,
    silent,
)

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(bytes(30_000_000))
MIB = 1024 * 1024


# A client that bounds only the pauses between bytes would hang for ever or exhaust its memory.
ENDLESS: dict[str, tuple[Habit, int | None, Failure | None]] = {
    "a header byte at a time": (
        dripping(b"", [b"%c" % byte for byte in HEAD + b"X: " + b"a" * 1000]),
        None,
        Failure.TIMEOUT,
    ),
    "a header line at a time": (
        dripping(HEAD, numbered(b"X-%d: a\r\n"), 0.2),
        None,
        Failure.TIMEOUT,
    ),
    "endless 100": (
        dripping(b"", repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), 0.2),
        None,
        Failure.TIMEOUT,
    ),
    "endless 103": (
        dripping(b"", repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), 0.2),
        None,
        Failure.TIMEOUT,
    ),
    "a body byte at a time": (
        dripping(HEAD + b"Content-Length: 1000\r\n\r\n", repeat(b"a"), 0.2),
        200,
        None,
    ),
    "endless body": (flooding(HEAD + b"\r\n", bytes(65_536)), 200, None),
    "gzip bomb": (
        saying(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB), BOMB),
        200,
        None,
    ),
    "body shorter than told": (saying(HEAD + b"Content-Length: 100\r\n\r\nabc"), 200, None),
    "redirect to itself": (
        saying(b"HTTP/1.1 307 Again\r\nLocation: /hook\r\nContent-Length: 0\r\n\r\n"),
        307,
        None,
    ),
    "5000 header lines": (
        saying(HEAD, *(b"X-%d: a\r\n" % number for number in range(5000)), b"\r\n"),
        None,
        Failure.PROTOCOL,
    ),
    "a header of 10 MB": (
        saying(HEAD + b"X: ", *repeat(b"a" * 65_536, 160), b"\r\n\r\n"),
        None,
        Failure.PROTOCOL,
    ),
    "silence": (silent, None, Failure.TIMEOUT),
}


@pytest.fixture(scope="module")
def endless() -> dict[str, Outcome]:
    """Play the twelve, and a good one next to them, within the real time limit."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    habits = {name: habit for name, (habit, _, _) in ENDLESS.items()}
    replies = outcomes({**habits, "good": good}, seconds=5.0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    # One MiB each is allowed, and as much again for the receivers in this process.
    assert grown <= 2 * len(habits) * MIB
    return replies


@pytest.mark.parametrize("name", ENDLESS)
def test_ends_in_time_whatever_the_receiver_does(name: str, endless: dict[str, Outcome]) -> None:
    _, status, failure = ENDLESS[name]
    reply = endless[name].reply
    assert (reply.status, reply.error) == (status, failure)
    assert reply.duration_ms < 7_000  # the promise is 5.5 s, on a machine that is not busy
    assert len(reply.answer) <= MAX_BODY
    assert endless[name].receiver.connections == 1


def test_good_receiver_is_served_at_once_next_to_bad_ones(endless: dict[str, Outcome]) -> None:
    assert endless["good"].reply.ok
    assert endless["good"].reply.duration_ms < 4_000


def a_status(line: bytes) -> Habit:
    return saying(line + b"\r\nContent-Length: 0\r\n\r\n")


# The status counts as soon as the headers are complete; a body cannot change it any more.
COMPLETE: dict[str, tuple[Habit, int]] = {
    "103, then 200": (saying(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", OK), 200),
    "100, then 500": (
        saying(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"),
        500,
    ),
    "complete headers, no body": (dripping(HEAD + b"Content-Length: 9\r\n\r\n", []), 200),
    "complete headers, no chunk": (dripping(CHUNKED, []), 200),
    "chunks without end": (dripping(CHUNKED, repeat(b"1\r\na\r\n")), 200),
    "bad chunk size": (saying(CHUNKED + b"zz\r\nabc"), 200),
    "endless trailers": (flooding(CHUNKED + b"0\r\n", b"X: a\r\n" * 1000), 200),
    "endless 500": (flooding(b"HTTP/1.1 500 No\r\n\r\n", bytes(65_536)), 500),
    "body longer than told": (saying(HEAD + b"Content-Length: 1\r\n\r\nabc"), 200),
    "two lengths": (
        saying(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nabc"),
        200,
    ),
    "negative length": (saying(HEAD + b"Content-Length: -5\r\n\r\nabc"), 200),
    "negative length of a 500": (saying(b"HTTP/1.1 500 No\r\nContent-Length: -5\r\n\r\n"), 500),
    "length beyond 64 bits": (saying(HEAD + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\na"), 200),
    "gzip in transfer": (
        saying(HEAD + b"Transfer-Encoding: gzip\r\n\r\n" + BOMB),
        200,
    ),
    "20 stacked encodings": (
        saying(HEAD + b"Content-Encoding: " + b", ".join([b"gzip"] * 20) + b"\r\n\r\nabc"),
        200,
    ),
    "bare line feeds": (saying(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), 200),
    "HTTP/1.0": (a_status(b"HTTP/1.0 200 OK"), 200),
    "no reason": (a_status(b"HTTP/1.1 200"), 200),
    "204": (saying(b"HTTP/1.1 204 No\r\n\r\n"), 204),
    "226": (a_status(b"HTTP/1.1 226 Used"), 226),
    "299": (a_status(b"HTTP/1.1 299 Fine"), 299),
    "304": (saying(b"HTTP/1.1 304 Same\r\n\r\n"), 304),
    "401": (a_status(b"HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=a"), 401),
    "410": (a_status(b"HTTP/1.1 410 Gone"), 410),
    "417": (a_status(b"HTTP/1.1 417 No"), 417),
    "two statuses": (saying(b"HTTP/1.1 500 No\r\nHTTP/1.1 200 OK\r\n\r\n"), 500),
}


@pytest.fixture(scope="module")
def complete() -> dict[str, Outcome]:
    return outcomes({name: habit for name, (habit, _) in COMPLETE.items()}, 2.0)


@pytest.mark.parametrize("name", COMPLETE)
def test_takes_the_status_at_its_word(name: str, complete: dict[str, Outcome]) -> None:
    reply = complete[name].reply
    assert (reply.status, reply.error, reply.detail) == (COMPLETE[name][1], None, "")
    assert reply.ok == (200 <= COMPLETE[name][1] <= 299)
    assert len(reply.answer) <= MAX_BODY


# No response: the bytes are not HTTP, or end within the headers.
BROKEN: dict[str, tuple[Habit, Failure]] = {
    "101": (
        saying(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
        Failure.PROTOCOL,
    ),
    "101, then 200": (
        saying(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", OK),
        Failure.PROTOCOL,
    ),
    "a flood of 100": (flooding(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), Failure.PROTOCOL),
    "a flood of header lines": (flooding(HEAD, b"X: a\r\n" * 1000), Failure.PROTOCOL),
    "SSH": (saying(b"SSH-2.0-OpenSSH_9.2\r\n"), Failure.PROTOCOL),
    "a TLS record": (saying(b"\x15\x03\x01\x00\x02\x02\x46"), Failure.PROTOCOL),
    "NULs": (saying(bytes(100)), Failure.PROTOCOL),
    "a page without a head": (saying(b"<html>ok</html>"), Failure.PROTOCOL),
    "HTTP/9.9": (a_status(b"HTTP/9.9 200 OK"), Failure.PROTOCOL),
    "HTTP/2": (a_status(b"HTTP/2 200 OK"), Failure.PROTOCOL),
    "status 000": (a_status(b"HTTP/1.1 000 Oh"), Failure.PROTOCOL),
    "status 99": (a_status(b"HTTP/1.1 99 Oh"), Failure.PROTOCOL),
    "status 2000": (a_status(b"HTTP/1.1 2000 Oh"), Failure.PROTOCOL),
    "status 2OO": (a_status(b"HTTP/1.1 2OO OK"), Failure.PROTOCOL),
    "nothing": (saying(), Failure.RESET),
    "half a status": (saying(b"HTTP/1.1 2"), Failure.RESET),
    "half a header": (saying(HEAD + b"X: a"), Failure.RESET),
    "103 and no more": (saying(b"HTTP/1.1 103 Early Hints\r\n\r\n"), Failure.RESET),
}


@pytest.fixture(scope="module")
def broken() -> dict[str, Outcome]:
    return outcomes({name: habit for name, (habit, _) in BROKEN.items()}, 5.0)


@pytest.mark.parametrize("name", BROKEN)
def test_says_why_there_is_no_answer(name: str, broken: dict[str, Outcome]) -> None:
    reply = broken[name].reply
    assert (reply.status, reply.error) == (None, BROKEN[name][1])
    assert reply.detail.endswith(".")
    assert reply.detail.isprintable()
    assert not reply.ok
    assert reply.duration_ms < 4_500, "it ended before the time allowed"


def bad_length_then_open(visitor: Visitor) -> None:
    visitor.read_request()
    visitor.say(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", OK)
    visitor.rest()


def endless_but_alive(visitor: Visitor) -> None:
    visitor.read_request()
    visitor.say(HEAD + b"Content-Length: 1000000\r\n\r\n", bytes(100_000))
    visitor.rest()


@pytest.mark.parametrize("habit", [bad_length_then_open, endless_but_alive])
def test_does_not_use_a_connection_again_whose_answer_it_broke_off(habit: Habit) -> None:
    with receiver(habit) as running, closing(Transport(LOOPBACK, timeout_seconds=1.0)) as transport:
        for number in range(2):
            transport.start(Request(running.url, b"{}", (), number))
            assert [reply.ok for reply in transport.wait(5.0)] == [True]
        assert running.connections == 2
