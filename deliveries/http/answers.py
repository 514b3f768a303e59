"""Response parsing and failure types: bytes of a receiver in, a reply out."""

import math
import re
import time
from collections.abc import Hashable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple

MAX_BODY = 16 * 1024
MAX_HEADERS = 64 * 1024
# Overhead that each line counts for, as in HTTP/2: thousands of short lines cost too.
HEADER_WEIGHT = 32
MAX_DETAIL = 300
MAX_RETRY_AFTER = 86_400

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] +([1-9][0-9]{2})[ \r\n]")
LEAP_SECOND = re.compile(r"(?<=:[0-9]{2}):60\b")
_SECONDS = re.compile(r"[0-9]+")
_UNPRINTABLE = re.compile(r"[^ -~]")


class Failure(StrEnum):
    """Reason why an attempt got no answer, as stored in its row."""

    BAD_TARGET = "bad_target"  # the URL violates the present policy
    DNS = "dns"  # the name does not exist, or its servers do not say
    FORBIDDEN_ADDRESS = "forbidden_address"  # the name leads where we must not connect
    REFUSED = "refused"  # nothing listens there, or there is no route to it
    TIMEOUT = "timeout"  # the time allowed was over before the headers were complete
    TLS = "tls"  # no encrypted connection to a server that proves its name
    TLS_EXPIRED = "tls_expired"  # the certificate has expired or is not yet valid
    RESET = "reset"  # the connection broke before the headers were complete
    PROTOCOL = "protocol"  # the response is not HTTP that we accept
    INTERNAL = "internal"  # our own fault: descriptors, memory, configuration
    PROXY = "proxy"  # the proxy works for no request: not an attempt
    PROXY_REFUSED = "proxy_refused"  # the outgoing proxy does not let this one through
    NOT_SENT = "not_sent"  # the sender withdrew it at the last moment: not an attempt


# libcurl's codes if there is no answer; every other code is a fault of ours.
_CURL_FAILURES = {
    0: (Failure.RESET, "The connection closed while sending headers"),
    1: (Failure.PROTOCOL, "The response is not valid HTTP/1.1"),
    6: (Failure.DNS, "The host name cannot be resolved"),
    7: (Failure.REFUSED, "The connection was refused"),
    8: (Failure.PROTOCOL, "The response is not valid HTTP/1.1"),
    18: (Failure.RESET, "The connection closed while sending headers"),
    28: (Failure.TIMEOUT, "No response within the time limit"),
    35: (Failure.TLS, "The TLS handshake failed"),
    52: (Failure.RESET, "The connection closed without a response"),
    55: (Failure.RESET, "The connection broke while we were sending the request"),
    56: (Failure.RESET, "The connection broke before the response arrived"),
    60: (Failure.TLS, "The certificate is not valid for this host"),
    61: (Failure.PROTOCOL, "The response has an encoding we did not request"),
    100: (Failure.PROTOCOL, "The response headers are too long"),
}
_OUR_FAULT = (Failure.INTERNAL, "The request failed on our side")
# The headers contradict each other: we cannot tell where the body ends, but we have the status.
_BAD_HEADERS = (8, 61)
_OUT_OF_TIME = (9, 10)  # OpenSSL: the certificate is not yet valid, has expired


class Reply(NamedTuple):
    """Outcome of a request: an answer (`status`) or none (`error`), never both.

    The status decides as soon as the headers are complete; `answer` holds at most 16 KiB of the
    body, or as much of it as came in time. `retry_after` is in seconds, a day at most.
    """

    key: Hashable
    status: int | None
    error: Failure | None
    detail: str
    answer: bytes
    duration_ms: int
    retry_after: int | None

    @property
    def ok(self) -> bool:
        """True if the receiver accepted it: 2xx and nothing else says so (decision W19)."""
        return self.status is not None and 200 <= self.status <= 299


class Incoming:
    """A reply being received, with bounds on what a receiver can make us store. Reused.

    `take_header` and `take_body` return None to go on and 0 to abort, as libcurl expects.
    """

    def __init__(self) -> None:
        self._waits: list[str] = []
        self._body = bytearray()

    def begin(self, key: Hashable) -> None:
        """Forget the last reply and start the time of a new one."""
        self.key = key
        self.started = time.monotonic()
        self._status: int | None = None
        self._complete = False
        # True if this request opened a connection of its own.
        self.dialled = False
        self._fault: tuple[Failure, str] | None = None
        self._header_weight = 0
        self._waits.clear()
        self._body.clear()

    def take_header(self, line: bytes) -> int | None:
        """Process a line of the headers, including status lines and the empty last one."""
        self._header_weight += len(line) + HEADER_WEIGHT
        if self._header_weight > MAX_HEADERS:
            return self.refuse(Failure.PROTOCOL, "The response headers are too long.")
        if self._status is None:
            match = _STATUS_LINE.match(line)
            if match is None or match[1] == b"101":
                return self.refuse(
                    Failure.PROTOCOL, "The response does not start with an HTTP/1.1 status line."
                )
            self._status = int(match[1])
        elif line[0] in b"\r\nrR":
            self._take_special(line, self._status)
        return None

    def take_body(self, data: bytes) -> int | None:
        """Store a piece of the body; abort beyond 16 KiB."""
        room = MAX_BODY - len(self._body)
        self._body += data[:room]
        return None if len(data) <= room else 0

    def refuse(self, failure: Failure, detail: str) -> int:
        """Record why we abort: it takes precedence over libcurl's error."""
        self._fault = (failure, detail)
        return 0

    def failed(self, failure: Failure, detail: str) -> Reply:
        """Return the reply of a request without an answer."""
        return self._reply(None, *(self._fault or (failure, detail)))

    def ended(self, code: int, text: str, verification: int) -> Reply:
        """Return the reply for libcurl's code and text and OpenSSL's result on the certificate."""
        if self._complete or (code in _BAD_HEADERS and self._status is not None):
            return self._reply(self._status, None, "")
        failure, words = _CURL_FAILURES.get(code, _OUR_FAULT)
        if failure is Failure.TLS and verification in _OUT_OF_TIME:
            failure = Failure.TLS_EXPIRED
        return self.failed(failure, f"{words} ({text})." if text else f"{words}.")

    def _reply(self, status: int | None, error: Failure | None, detail: str) -> Reply:
        waits = self._waits  # several contradict each other, so they are ignored
        return Reply(
            key=self.key,
            status=status,
            error=error,
            detail=_UNPRINTABLE.sub("?", detail)[:MAX_DETAIL] if detail else "",
            answer=bytes(self._body),
            duration_ms=round((time.monotonic() - self.started) * 1000),
            retry_after=retry_after(waits[0], datetime.now(UTC)) if len(waits) == 1 else None,
        )

    def _take_special(self, line: bytes, status: int) -> None:
        if line in (b"\r\n", b"\n"):
            # Statuses 100 and 103 announce an answer and are not one.
            self._complete = status >= 200
            self._status = status if self._complete else None
        elif line[:12].lower() == b"retry-after:":
            self._waits.append(line[12:].decode("latin-1"))


def retry_after(value: str, now: datetime) -> int | None:
    """Return the seconds that a Retry-After header asks for, or None if it is not usable.

    Takes whole seconds and the three date forms of RFC 9110 5.6.7, up to a day.
    """
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return min(int(value[:12]), MAX_RETRY_AFTER) or None
    try:
        # HTTP has a second 60 for leap seconds, Python has none.
        date = parsedate_to_datetime(LEAP_SECOND.sub(":59", value))
        if date.tzinfo is None and value[-1:].isdigit():
            # The form of C's asctime names no zone: a date of HTTP is in UTC.
            date = date.replace(tzinfo=UTC)
        ahead = math.ceil((date - now).total_seconds())
    except (TypeError, ValueError, OverflowError, IndexError):  # TypeError: a zone nobody knows
        return None
    return min(ahead, MAX_RETRY_AFTER) if ahead >= 1 else None
