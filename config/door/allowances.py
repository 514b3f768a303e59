"""Limits of a request until its answer: bytes of the body, and seconds."""

import re
from typing import Any, NamedTuple

from django.conf import settings

# For the whole head: from the first byte of a request to the end of its headers.
HEAD_SECONDS = 10.0
LARGEST_HEAD = 64 * 1024
BODY_SECONDS = 30.0
# The platform's feed, which takes more than other addresses (decision N25).
FEED = "/platform/feed"
FEED_SECONDS = 120.0
# For a body with a file: 15 MiB take this long at a megabit a second.
UPLOAD_SECONDS = 120.0
# Paths are matched as they were sent; a percent-encoded one gets the usual limits.
UPLOADS = re.compile(
    r"/company/(?:tickets/[0-9]{1,19}/files|upload/evidences)"
    r"|/admin/tickets/ticket/[0-9]{1,19}/write/"
    r"|/c/tickets/(?:new/[0-9]{1,19}|[0-9]{1,19}/answer)"
)
# For a sender without a known token or session: the login form needs no more.
STRANGERS_BODY = 64 * 1024
# A client that reads less than READER_BYTES of its answer in this time (16 KiB a second) is too
# slow.
READER_SECONDS = 30.0
READER_BYTES = 480 * 1024
# Most clients send all of a body before they read the answer. The rest of a refused body is
# discarded for this long: closing at once would reset the connection, and the client would never
# see the refusal.
LINGER_SECONDS = 5.0
# A stopping process still answers a request that a client may just be sending on a kept-alive
# connection.
STOP_SECONDS = 2.0
# Bytes of requests and answers in memory, over all connections of a process.
MOST_HELD = 64 * 1024 * 1024
# Bytes of one answer that wait for its client in memory; the rest waits on disk.
MOST_IN_MEMORY = 256 * 1024
# Bytes on disk: of one answer, and over all connections of a process.
LARGEST_SPOOLED = 256 * 1024 * 1024
MOST_SPOOLED = 512 * 1024 * 1024


class Allowance(NamedTuple):
    """Limits for the whole body of one request: decoded bytes, and seconds."""

    strangers: int
    most: int
    seconds: float


def body_allowance(request: Any) -> Allowance:
    """Return the limits for the body of a request; only this function knows the exceptions."""
    if request.path == FEED:
        return Allowance(STRANGERS_BODY, settings.MAX_FEED_BYTES, FEED_SECONDS)
    if request.method == "POST" and UPLOADS.fullmatch(request.path):
        return Allowance(STRANGERS_BODY, settings.MAX_UPLOAD_BYTES, UPLOAD_SECONDS)
    return Allowance(STRANGERS_BODY, settings.MAX_BODY_BYTES, BODY_SECONDS)
