"""Parser of request bodies as strict JSON (decisions E3, E6 and E8)."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from core.api.strict_json import BadJSON, load_json

DEEPEST = 50
# The largest ticket has about 300. Parsing this many holds the GIL for a few milliseconds, no
# longer than Python lets any thread.
MOST_VALUES = 5_000


class BodyTooLarge(APIException):
    status_code = 413
    default_detail = "The body is larger than 1 MiB."


class StrictJSONParser(BaseParser):
    """Parser of strict JSON. Raises ParseError (400) and BodyTooLarge (413)."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Any:
        # Do not read a body whose Content-Length is too large.
        announced = context["request"].META.get("CONTENT_LENGTH") if context else None
        if int(announced or 0) > settings.MAX_BODY_BYTES:
            raise BodyTooLarge
        body = stream.read(settings.MAX_BODY_BYTES + 1)
        if len(body) > settings.MAX_BODY_BYTES:
            raise BodyTooLarge
        return parse_json(body)


def parse_json(body: bytes) -> Any:
    """Parse a body as strict JSON. Raises ParseError (400)."""
    try:
        return load_json(body.decode("utf-8"), deepest=DEEPEST, most_values=MOST_VALUES)
    except UnicodeDecodeError as error:
        raise ParseError(
            f"The body is not UTF-8 (byte {error.start}).", code="invalid_json"
        ) from error
    except BadJSON as error:
        raise ParseError(f"The body is not valid JSON: {error}.", code="invalid_json") from error
