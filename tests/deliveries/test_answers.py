from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliveries.http.answers import MAX_BODY, MAX_HEADERS, Failure, Incoming, retry_after

NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("30", 30),
        (" 30 ", 30),
        ("1", 1),
        ("86400", 86_400),
        ("86401", 86_400),
        ("1" + "0" * 9, 86_400),
        ("1" + "0" * 30, 86_400),
        ("9" * 10_000, 86_400),
        ("Fri, 02 Jan 2026 12:05:00 GMT", 300),
        ("Fri, 02 Jan 2026 13:00:00 +0000", 3600),
        ("Sat, 03 Jan 2026 12:00:00 GMT", 86_400),
        ("Sat, 03 Jan 2026 12:00:01 GMT", 86_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("Fri Jan  2 12:05:00 2026", 300),
        ("Friday, 02-Jan-26 12:05:00 GMT", 300),
        ("fri, 02 jan 2026 12:05:00 gmt", 300),
        ("Friday, 02-Jan-2026 12:05:00 GMT", 300),
        ("Fri, 02 Jan 2026 12:04:60 GMT", 299),
        ("Fri, 02 Jan 2026 06:05:00 -0600", 300),
        ("0030", 30),
    ],
)
def test_takes_seconds_or_a_date(value: str, seconds: int) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0",
        "-5",
        "+5",
        "1.5",
        "1e3",
        "inf",
        "nan",
        "soon",
        "٣",
        "30, 60",
        "30 s",
        "Fri, 02 Jan 2026 12:00:00 GMT",
        "Fri, 02 Jan 2026 11:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri Jan  2 11:59:59 2026",
        "Friday, 02-Jan-26 11:59:59 GMT",
        "Fri, 02 Jan 2026 12:05:00 XYZ",
        "Fri, 32 Jan 2026 25:61:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 -9999",
    ],
)
def test_leaves_the_schedule_alone_where_the_receiver_says_nothing_usable(value: str) -> None:
    assert retry_after(value, NOW) is None


@given(st.text(max_size=40))
def test_reads_any_retry_after_without_breaking(value: str) -> None:
    assert retry_after(value, NOW) in {None, *range(1, 86_401)}


def fed(*lines: bytes) -> Incoming:
    incoming = Incoming()
    incoming.begin("key")
    for line in lines:
        incoming.take_header(line)
    return incoming


def test_ignores_retry_after_headers_that_contradict_each_other() -> None:
    head = (b"HTTP/1.1 503 No\r\n", b"retry-after: 30\r\n")
    assert fed(*head, b"\r\n").ended(0, "", 0).retry_after == 30
    assert fed(*head, b"Retry-After: 60\r\n", b"\r\n").ended(0, "", 0).retry_after is None


def test_carries_the_callers_key() -> None:
    reply = fed(b"HTTP/1.1 204 Done\r\n", b"\r\n").ended(0, "", 0)
    assert (reply.key, reply.ok, reply.error, reply.detail) == ("key", True, None, "")


def test_forgets_everything_between_two_replies() -> None:
    incoming = fed(b"HTTP/1.1 503 No\r\n", b"Retry-After: 30\r\n", b"\r\n")
    incoming.take_body(b"no")
    incoming.refuse(Failure.PROTOCOL, "No.")
    incoming.begin("next")
    reply = incoming.ended(28, "", 0)
    assert (reply.key, reply.status, reply.error) == ("next", None, Failure.TIMEOUT)
    assert (reply.answer, reply.retry_after) == (b"", None)


def test_keeps_16_kib_of_the_body_and_breaks_off_at_the_next_byte() -> None:
    incoming = fed(b"HTTP/1.1 200 OK\r\n", b"\r\n")
    assert incoming.take_body(bytes(MAX_BODY)) is None
    assert incoming.take_body(b"x") == 0
    assert incoming.ended(23, "Failed writing", 0).answer == bytes(MAX_BODY)


def test_breaks_off_headers_beyond_64_kib() -> None:
    incoming = fed(b"HTTP/1.1 200 OK\r\n")
    assert incoming.take_header(b"X: " + bytes(MAX_HEADERS)) == 0
    reply = incoming.ended(23, "Failed writing", 0)
    assert (reply.status, reply.error) == (None, Failure.PROTOCOL)


def test_unknown_error_counts_as_our_own_fault() -> None:
    assert fed().ended(27, "Out of memory", 0).error == Failure.INTERNAL


def test_details_are_printable_and_bounded() -> None:
    detail = fed().ended(56, "\x1b[31m\r\n\u202e" + "x" * 1000, 0).detail
    assert detail.isprintable()
    assert len(detail) == 300
