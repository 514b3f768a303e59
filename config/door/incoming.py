"""Parser of a connection's bytes into complete requests, without a socket of its own."""

import re
from io import BytesIO
from typing import Any, NoReturn

from django.core.exceptions import RequestDataTooBig
from gunicorn.asgi.parser import ParseError, PythonProtocol
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import InvalidHeader, LimitRequestHeaders, NoMoreData
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

from config.door.allowances import LARGEST_HEAD, Allowance, body_allowance

__all__ = ["BadChunks", "RequestReader"]

BadChunks = ParseError
BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
# The decoder of chunks must see a head before them.
CHUNKED_HEAD = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
# A chunked body may be at most this many times its decoded limit, for the sizes between chunks.
CHUNKS_SHARE = 2
KEY = "IDEMPOTENCY-KEY"


def check_host(request: Any) -> None:
    """Raise InvalidHeader if an HTTP/1.1 request has not exactly one Host (RFC 9112, 3.2)."""
    hosts = sum(name == "HOST" for name, _ in request.headers)
    if hosts > 1 or (not hosts and request.version >= (1, 1)):
        raise InvalidHeader("HOST")


def with_one_key(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join several Idempotency-Keys as HTTP joins the lines of a list: `a, b`.

    WSGI would join them as `a,b`, which may be a valid key. A key with a space is refused.
    """
    keys = [value for name, value in headers if name == KEY]
    if len(keys) < 2:
        return headers
    return [*(each for each in headers if each[0] != KEY), (KEY, ", ".join(keys))]


class UnreadBody:
    """Placeholder for a body that is larger than allowed and was not read."""

    def read(self, size: int = -1) -> NoReturn:
        """Raise RequestDataTooBig, which Django answers with a 413."""
        raise RequestDataTooBig("The body is larger than allowed.")

    readline = readlines = __iter__ = read


class Chunks:
    """A chunked body, decoded as it arrives. `feed` raises BadChunks."""

    def __init__(self, cfg: Any) -> None:
        self.body = bytearray()
        self.received_bytes = 0
        self.decoder = PythonProtocol(
            on_body=self.body.extend,
            limit_request_fields=cfg.limit_request_fields,
            limit_request_field_size=cfg.limit_request_field_size,
        )
        self.decoder.feed(CHUNKED_HEAD)

    def feed(self, data: bytes) -> None:
        self.received_bytes += len(data)
        self.decoder.feed(data)

    def exceed(self, size: int) -> bool:
        return len(self.body) > size or self.received_bytes > CHUNKS_SHARE * size


class RequestReader:
    """Reader of one connection's requests. `request` is the one whose body is still to come.

    While `needs_sender` is set, that body waits for `allow`, which says if its sender is known.
    """

    def __init__(self, cfg: Any, client: Any) -> None:
        self.cfg = cfg
        self.client = client
        self.received = bytearray()
        self.request: Any = None
        self.allowance = Allowance(0, 0, 0.0)
        self.limit = 0
        self.needs_sender = False
        self.sender_checked = False
        self.length = 0
        self.chunks: Chunks | None = None
        self.searched = 0
        self.number = 0

    def __len__(self) -> int:
        """Return the bytes in memory."""
        return len(self.received) + (len(self.chunks.body) if self.chunks else 0)

    def feed(self, data: bytes) -> None:
        self.received += data

    def next_request(self) -> Any:
        """Return the next complete request, with its body, or None.

        A request with a body that is larger than allowed counts as complete at once, and the
        connection must be closed after the answer. Raises the errors of `gunicorn.http` for invalid
        HTTP, and BadChunks for invalid chunks.
        """
        if self.request is None:
            end = self.end_of_head()
            if end is None:
                return None
            self.begin(end)
        body = self.whole_body()
        if body is None:
            return None
        request, self.request, self.chunks = self.request, None, None
        request.body = body
        request._expected_100_continue = False  # gunicorn must not write before the answer
        return request

    def next_with_host(self) -> Any:
        """Return the next request as `next_request` does; also raise InvalidHeader (check_host)."""
        request = self.next_request()
        head = request or self.request
        if head is not None:
            check_host(head)
        return request

    def end_of_head(self) -> int | None:
        start = max(0, self.searched - 3)
        end = self.received.find(b"\r\n\r\n", start)
        if end >= 0:
            return end + 4
        self.searched = len(self.received)
        if self.searched > LARGEST_HEAD or BARE_LINE_FEED.search(self.received, start):
            return self.searched  # the parser refuses such a head and says why
        return None

    def begin(self, end: int) -> None:
        """Parse the head and set `request`, until its body is complete."""
        unreader = IterUnreader([bytes(self.received[:end])])
        del self.received[:end]
        self.searched = 0
        self.number += 1
        try:
            self.request = Request(self.cfg, unreader, self.client, self.number)
        except NoMoreData as error:
            raise LimitRequestHeaders("max buffer headers") from error
        self.request.headers = with_one_key(self.request.headers)
        reader = self.request.body.reader
        if isinstance(reader, ChunkedReader):
            self.chunks = Chunks(self.cfg)
        else:
            self.length = reader.length
        if self.chunks or self.length:
            self.allowance = body_allowance(self.request)
            self.limit = self.allowance.strangers
            self.sender_checked = False

    def whole_body(self) -> BytesIO | UnreadBody | None:
        if self.chunks:
            return self.whole_chunks(self.chunks)
        if self.length > self.limit:
            return self.beyond_limit(self.length)
        if len(self.received) < self.length:
            return None
        body = BytesIO(self.received[: self.length])
        del self.received[: self.length]
        return body

    def whole_chunks(self, chunks: Chunks) -> BytesIO | UnreadBody | None:
        chunks.feed(bytes(self.received))
        self.received.clear()
        if chunks.exceed(self.limit):
            return self.beyond_limit(self.limit + 1)
        if not chunks.decoder.is_complete:
            return None
        self.received += chunks.decoder.remaining()
        self.announce(len(chunks.body))
        return BytesIO(chunks.body)

    def announce(self, length: int) -> None:
        """Replace Transfer-Encoding by the length of the decoded body, for the application."""
        others = [header for header in self.request.headers if header[0] != "TRANSFER-ENCODING"]
        self.request.headers = [*others, ("CONTENT-LENGTH", str(length))]

    def beyond_limit(self, length: int) -> UnreadBody | None:
        """Ask for a check of the sender; after it, skip the body, and the request is refused."""
        if length <= self.allowance.most and not self.sender_checked:
            self.needs_sender = True
            return None
        if self.chunks:
            self.announce(self.allowance.most + 1)
        self.request.force_close()
        return UnreadBody()

    def allow(self, is_known: bool) -> None:
        """Continue after the check of the sender; a known one may send the largest body."""
        self.needs_sender = False
        self.sender_checked = True
        if is_known:
            self.limit = self.allowance.most

    def take_expectation(self) -> bool:
        """Tell if the client waits for a 100 Continue; True only once for each request."""
        expected = bool(self.request._expected_100_continue)
        self.request._expected_100_continue = False
        return expected

    def forget(self) -> None:
        """Discard everything that was received so far."""
        self.received.clear()
        self.request = self.chunks = None
