"""Requests from bytes: the same ones however the bytes are cut."""

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import LimitRequestHeaders, ParseException

from companies.api import idempotency
from config.door.incoming import BadChunks, RequestReader

CFG, CLIENT = Config(), ("198.51.100.7", 1)
STREAM = (
    b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    b"\r\nPOST /b HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\n"
    b"POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
    b"DELETE /d HTTP/1.0\r\n\r\n"
)
REQUESTS = [("/a", b""), ("/b", b"\r\n\r\n"), ("/c", b"abc0123456789"), ("/d", b"")]


def requests(*parts: bytes) -> list[tuple[str, bytes]]:
    incoming, found = RequestReader(CFG, CLIENT), []
    for part in parts:
        incoming.feed(part)
        while request := incoming.next_request():
            found.append((request.path, request.body.read()))
    return found


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50])
def test_finds_the_same_requests_in_pieces(step: int) -> None:
    pieces = [STREAM[start : start + step] for start in range(0, len(STREAM), step)]

    assert requests(*pieces) == REQUESTS


def test_finds_the_same_requests_wherever_the_bytes_are_cut() -> None:
    for cut in range(len(STREAM) + 1):
        assert requests(STREAM[:cut], STREAM[cut:]) == REQUESTS


def test_a_chunked_body_gets_a_length() -> None:
    incoming = RequestReader(CFG, CLIENT)
    incoming.feed(STREAM[STREAM.index(b"POST /c") :])

    headers = dict(incoming.next_request().headers)

    assert headers == {"CONTENT-LENGTH": "13"}


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\nHost: x\n",
        b"GET / HTTP/1.1\r\nHost: x\nY: 1\r\n",
        b"a" * 65537,
        b"GET / HTTP/1.1\r\nX: " + b"a" * 65537,
    ],
)
def test_does_not_wait_for_a_head_that_can_have_no_end(sent: bytes) -> None:
    with pytest.raises((ParseException, LimitRequestHeaders)):
        requests(sent)


@pytest.mark.parametrize(
    "chunks",
    [
        b"-1\r\n",
        b"0x1\r\na\r\n",
        b" 1\r\na\r\n",
        b"1\r\nab\r\n",
        b"1 \r\na\r\n",
        b"1\na\n",
        b"1;\x00\r\na\r\n",
        b"\r\n",
        b"1;" + b"a" * 9000,
        b"0\r\nContent-Length: 5\r\n\r\n",
        b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_refuses_chunks_that_could_be_read_in_two_ways(chunks: bytes) -> None:
    with pytest.raises(BadChunks):
        requests(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", chunks)


def test_tiny_chunks_end_at_twice_the_size_of_what_they_may_hold() -> None:
    """Each costs time, and its size in the stream is six times that of its byte."""
    incoming = RequestReader(CFG, CLIENT)
    incoming.feed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 30_000)

    assert incoming.next_request() is None
    assert incoming.asks
    incoming.allow(False)
    assert incoming.next_request().should_close()


def test_two_idempotency_keys_become_one_that_no_view_takes() -> None:
    """WSGI would join them to `a,b`, which may be a key of its own."""
    incoming = RequestReader(CFG, CLIENT)
    incoming.feed(b"GET / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\r\nidempotency-key: b\r\n\r\n")

    headers = dict(incoming.next_request().headers)

    assert headers["IDEMPOTENCY-KEY"] == "a, b"
    with pytest.raises(idempotency.BadKey):
        idempotency.check_key(headers["IDEMPOTENCY-KEY"])
