"""Body of POST /platform/feed: JSON lines, plain or packed by gzip."""

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
    content: bytes
    is_gzip: bool

    def stream(self) -> BufferedIOBase:
        """Return a stream of the lines, which unpacks them as they are read."""
        raw = BytesIO(self.content)
        return cast(BufferedIOBase, GzipFile(fileobj=raw)) if self.is_gzip else raw

    def fingerprint(self) -> str:
        """Return the digest of the unpacked lines.

        Reads them all once, in pieces, so that a body that is too large or cannot be unpacked is
        refused before any of it is recorded. Raises ParseError (400) and FeedTooLarge (413).
        """
        digest = hashlib.sha256()
        size = 0
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
    """Read the body of a request. Raises UnsupportedContent (415) and FeedTooLarge (413)."""
    message = f"Send {CONTENT_TYPES[0]}, plain or packed by gzip."
    _, coding = check_content(request, CONTENT_TYPES, message, (*GZIP, *PLAIN))
    # A body whose Content-Length is too large is not read at all.
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_FEED_BYTES:
        raise FeedTooLarge
    content = request._request.read(settings.MAX_FEED_BYTES + 1)
    if len(content) > settings.MAX_FEED_BYTES:
        raise FeedTooLarge
    return FeedBody(content, coding in GZIP)
