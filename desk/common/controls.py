"""Text from outside cannot change how the desk's pages read (decision N30).

Bidirectional controls turn the order of what follows around, so that an address or a file's name
reads as another. They are shown by their number, and no page obeys them. Text from outside also
stands in a `<bdi>` of its own, since letters of one direction move what stands beside them.
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

IN_BYTES = re.compile(rb"\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
# What is no text to be read: boxes to write in keep what was typed, character for character.
TAGS = re.compile(
    r"(<textarea\b[^>]*>)(.*?</textarea>)"
    r"|(<(?:script|style)\b.*?</(?:script|style)>)"
    r"|(<[a-zA-Z/!][^>]*>)",
    re.DOTALL | re.IGNORECASE,
)
# Attributes that are read, or read out.
SAID = re.compile(r"\b(?:title|alt|label|placeholder|aria-label)=(?:\"[^\"]*\"|'[^']*')")


def show_in_page(html: str) -> str:
    """The same in what is read of a page; what is sent back from its forms stays as it is."""
    parts, end = [], 0
    for found in TAGS.finditer(html):
        parts.append(show_controls(html[end : found.start()]))
        box, typed, code, tag = found.groups()
        said = SAID.sub(lambda one: show_controls(one[0]), box or tag or "")
        parts.append(code or said + (typed or ""))
        end = found.end()
    return "".join([*parts, show_controls(html[end:])])


def isolated(text: object) -> SafeString | str:
    """Text from outside, as HTML that leaves alone what stands around it; nothing for nothing."""
    return "" if text is None or text == "" else format_html("<bdi>{}</bdi>", legible(str(text)))


def foreign_column(
    name: str, label: Callable[[Any], Any] = lambda value: value
) -> Callable[[Any, Any], SafeString | str]:
    """A method of an admin page for a field of its rows that holds text from outside.

    `label` translates those of its values that are known.
    """

    words = name.replace("_", " ")
    ordering = ReadingOrder(name) if name == "name" else name

    @admin.display(description=gettext_lazy(words), ordering=ordering)
    def column(page: Any, row: Any) -> SafeString | str:
        return isolated(label(getattr(row, name)))

    return column


class ShowControls:
    """Middleware: no page of the desk obeys a control, whatever it shows."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        html = response.headers.get("Content-Type", "").startswith("text/html")
        if html and not response.streaming and IN_BYTES.search(response.content):
            response.content = show_in_page(response.content.decode()).encode()
        return response
