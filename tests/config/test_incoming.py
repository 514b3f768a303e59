"""Requests parsed from bytes: the same ones however the bytes are cut."""

import pytest
from gunicorn.config import Config

from config.door.incoming import RequestReader

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
    incoming, parsed = RequestReader(CFG, CLIENT), []
    for part in parts:
        incoming.feed(part)
        while request := incoming.next_request():
            parsed.append((request.path, request.body.read()))
    return parsed


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50])
def test_finds_the_same_requests_in_pieces(step: int) -> None:
    pieces = [STREAM[start : start + step] for start in range(0, len(STREAM), step)]

    assert requests(*pieces) == REQUESTS


def test_finds_the_same_requests_wherever_the_bytes_are_cut() -> None:
    for cut in range(len(STREAM) + 1):
        assert requests(STREAM[:cut], STREAM[cut:]) == REQUESTS
