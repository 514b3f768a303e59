"""What a request may take before its answer: bytes of body, and seconds."""

import re
from typing import Any, NamedTuple

from django.conf import settings

# From the first byte of a request to the end of its headers, as a whole.
HEAD_SECONDS = 10.0
LARGEST_HEAD = 64 * 1024
BODY_SECONDS = 30.0
# The platform's feed, which takes more than other addresses (decision N25).
FEED = "/platform/feed"
FEED_SECONDS = 120.0
# Of a body that brings a file: so long do 15 MiB take at a megabit a second.
UPLOAD_SECONDS = 120.0
# As they are written; an address that is escaped takes no more than others.
UPLOADS = re.compile(
    r"/company/(?:tickets/[0-9]{1,19}/files|upload/evidences)"
    r"|/admin/tickets/ticket/[0-9]{1,19}/write/"
)
# Of somebody whose token or session is not known: the login form needs no more.
STRANGERS_BODY = 64 * 1024
# A client that does not read so much of its answer in so long is too slow: 16 KiB a second.
READER_SECONDS = 30.0
READER_BYTES = 480 * 1024
# Most clients send all of a body before they read the answer. What is left of one that nobody
# wanted is thrown away for so long: closing at once would reset the connection, and they would
# never see why.
LINGER_SECONDS = 5.0
# A stopping process still answers what a client may just be sending on a connection it keeps.
STOP_SECONDS = 2.0
# Of requests and answers, over all connections of a process.
MOST_HELD = 64 * 1024 * 1024
# Bytes of one answer that wait for its client in memory; the rest waits on disk.
MOST_IN_MEMORY = 256 * 1024
# On disk, of one answer and over all connections of a process.
LARGEST_SPOOLED = 256 * 1024 * 1024
MOST_SPOOLED = 512 * 1024 * 1024


class Allowance(NamedTuple):
    """For the body of one request, as a whole: bytes once decoded, and seconds."""

    strangers: int
    most: int
    seconds: float


def body_allowance(request: Any) -> Allowance:
    """The one place to ask: an address that takes more than the others is told apart here."""
    if request.path == FEED:
        return Allowance(STRANGERS_BODY, settings.MAX_FEED_BYTES, FEED_SECONDS)
    if request.method == "POST" and UPLOADS.fullmatch(request.path):
        return Allowance(STRANGERS_BODY, settings.MAX_UPLOAD_BYTES, UPLOAD_SECONDS)
    return Allowance(STRANGERS_BODY, settings.MAX_BODY_BYTES, BODY_SECONDS)
