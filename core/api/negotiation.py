"""JSON in and JSON out: there is nothing to negotiate (interface, Endpoints)."""

from collections.abc import Iterable, Sequence

from django.utils.http import parse_header_parameters
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

PLAIN = ("identity",)


class UnsupportedContent(UnsupportedMediaType):
    """A 415 that lists what is accepted, in Accept or Accept-Encoding (RFC 9110, 15.5.16).

    Accept-Encoding is set only for an unsupported coding, so clients can tell the reasons apart.
    """

    def __init__(self, message: str, headers: dict[str, str]) -> None:
        super().__init__("", message)
        self.headers = headers


def check_content(
    request: Request, types: Sequence[str], message: str, codings: Sequence[str] = PLAIN
) -> tuple[str, str]:
    """Return the media type and coding of the body. Raises UnsupportedContent (415)."""
    media_type, _ = parse_header_parameters(request.content_type or "")
    coding = request.headers.get("Content-Encoding", "").strip().lower() or "identity"
    headers = {}
    if media_type not in types:
        headers["Accept"] = ", ".join(types)
    if coding not in codings:
        headers["Accept-Encoding"] = ", ".join(codings)
    if headers:
        raise UnsupportedContent(message, headers)
    return media_type, coding


class JSONOnly(BaseContentNegotiation):
    """Negotiation that ignores Accept and always sends JSON, for clients with odd defaults."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """Return the only parser, if it fits the body. Raises UnsupportedContent (415)."""
        (parser,) = parsers
        check_content(request, [parser.media_type], f"Send {parser.media_type}, not compressed.")
        return parser

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        (renderer,) = renderers
        return renderer, renderer.media_type
