"""The body of POST /platform/feed: JSON lines, plain or packed by gzip."""

import hashlib
import zlib
from gzip import BadGzipFile, GzipFile
from io import BufferedIOBase, BytesIO
from typing import NamedTuple, cast

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request

from core.api.negotiation import PLAIN, check_content

CONTENT_TYPES = ("application/x-ndjson", "application/jsonl", "application/json")
GZIP = ("gzip", "x-gzip")
CHUNK_BYTES = 256 * 1024


class FeedTooLarge(APIException):
    status_code = 413
    default_detail = "The lines are larger than 16 MiB. Send them in several batches."


class FeedBody(NamedTuple):
    sent: bytes
    packed: bool

    def stream(self) -> BufferedIOBase:
        """The lines, unpacked as they are read."""
        plain = BytesIO(self.sent)
        return cast(BufferedIOBase, GzipFile(fileobj=plain)) if self.packed else plain

    def fingerprint(self) -> str:
        """The digest of the lines, however they were packed.

        Reads all of them once, in pieces, so that a body that cannot be unpacked or is too large is
        refused before any of it is recorded. Raises ParseError (400) and FeedTooLarge (413).
        """
        digest, size = hashlib.sha256(), 0
        stream = self.stream()
        try:
            while chunk := stream.read1(CHUNK_BYTES):
                size += len(chunk)
                if size > settings.MAX_FEED_BYTES:
                    raise FeedTooLarge
                digest.update(chunk)
        except (BadGzipFile, EOFError, zlib.error) as error:
            raise ParseError("The body is not valid gzip.", code="invalid_gzip") from error
        return digest.hexdigest()


def read_body(request: Request) -> FeedBody:
    """Raises UnsupportedContent (415) and FeedTooLarge (413)."""
    message = f"Send {CONTENT_TYPES[0]}, plain or packed by gzip."
    _, coding = check_content(request, CONTENT_TYPES, message, (*GZIP, *PLAIN))
    # Do not read a body whose Content-Length is too large.
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_FEED_BYTES:
        raise FeedTooLarge
    sent = request._request.read(settings.MAX_FEED_BYTES + 1)
    if len(sent) > settings.MAX_FEED_BYTES:
        raise FeedTooLarge
    return FeedBody(sent, coding in GZIP)
