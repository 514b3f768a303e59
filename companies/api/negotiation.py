"""JSON in and JSON out: there is nothing to negotiate (interface, Endpoints)."""

from collections.abc import Iterable

from django.utils.http import parse_header_parameters
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JSONOnly(BaseContentNegotiation):
    """Ignores Accept and always sends JSON, so that clients with odd defaults still work."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """Raises UnsupportedMediaType (415)."""
        (parser,) = parsers
        sent, _ = parse_header_parameters(request.content_type or "")
        coding = request.headers.get("Content-Encoding", "").lower()
        if sent != parser.media_type or coding not in ("", "identity"):
            raise UnsupportedMediaType(sent, f"Send {parser.media_type}, not compressed.")
        return parser

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        (renderer,) = renderers
        return renderer, renderer.media_type
