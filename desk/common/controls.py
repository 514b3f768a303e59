"""Defence against foreign text that changes how the desk's pages read (decision N30).

Bidirectional controls reverse the order of the text after them, so that an address or a file name
reads as another. Pages show them by their number instead of obeying them. Foreign text also gets
a `<bdi>` of its own, since letters of one direction move the text next to them.
"""

import re
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from core.data.reading_order import ReadingOrder
from core.values.texts import legible, show_controls

CONTROL_BYTES = re.compile(rb"\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
# Parts of a page that are not text: boxes keep what was typed, character for character.
TAGS = re.compile(
    r"(<textarea\b[^>]*>)(.*?</textarea>)"
    r"|(<(?:script|style)\b.*?</(?:script|style)>)"
    r"|(<[a-zA-Z/!][^>]*>)",
    re.DOTALL | re.IGNORECASE,
)
# Attributes that browsers show or screen readers read out.
READABLE_ATTRS = re.compile(r"\b(?:title|alt|label|placeholder|aria-label)=(?:\"[^\"]*\"|'[^']*')")


def show_in_page(html: str) -> str:
    """Make controls visible in a page, except in the values that its forms send back."""
    parts, end = [], 0
    for markup in TAGS.finditer(html):
        parts.append(show_controls(html[end : markup.start()]))
        box, typed, code, tag = markup.groups()
        visible_tag = READABLE_ATTRS.sub(lambda match: show_controls(match[0]), box or tag or "")
        parts.append(code or visible_tag + (typed or ""))
        end = markup.end()
    return "".join([*parts, show_controls(html[end:])])


def isolate_text(text: object) -> SafeString | str:
    """Wrap foreign text in `<bdi>`, so that it cannot reorder the text around it; "" stays ""."""
    return "" if text is None or text == "" else format_html("<bdi>{}</bdi>", legible(str(text)))


def foreign_column(
    name: str, label: Callable[[Any], Any] = lambda value: value
) -> Callable[[Any, Any], SafeString | str]:
    """Make a column of an admin page for a field that holds foreign text.

    `label` translates known values of the field.
    """
    words = name.replace("_", " ")
    ordering = ReadingOrder(name) if name == "name" else name

    @admin.display(description=gettext_lazy(words), ordering=ordering)
    def column(page: Any, row: Any) -> SafeString | str:
        return isolate_text(label(getattr(row, name)))

    return column


class ShowControls:
    """Middleware that makes bidirectional controls visible on every page of the desk."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        html = response.headers.get("Content-Type", "").startswith("text/html")
        if html and not response.streaming and CONTROL_BYTES.search(response.content):
            response.content = show_in_page(response.content.decode()).encode()
        return response
