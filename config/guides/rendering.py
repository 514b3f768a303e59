"""Markdown into HTML: what our documents use of it. No database and no settings here."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# HTML in a document is shown, not obeyed.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
DEEPEST_LISTED = 3

# The address of what a document links to, or None where readers of the page cannot go there.
Resolve = Callable[[str], str | None]


class Heading(NamedTuple):
    level: int
    anchor: str
    text: str


class Rendered(NamedTuple):
    title: str
    html: str
    contents: list[Heading]


def render_document(text: str, resolve: Resolve) -> Rendered:
    """The document's first heading is its title; those below are its contents."""
    tokens = MARKDOWN.parse(text)
    headings = number_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = with_links(token.children, resolve)
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    contents = [heading for heading in headings if 1 < heading.level <= DEEPEST_LISTED]
    return Rendered(headings[0].text, html, contents)


def number_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give every heading its anchor; returns them in order."""
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = plain_text(inline)
            heading = Heading(int(token.tag[1]), anchor(text), text)
            token.attrSet("id", heading.anchor)
            found.append(heading)
    return found


def plain_text(inline: Token) -> str:
    return "".join(token.content for token in inline.children or [])


def anchor(heading: str) -> str:
    """What a link may name behind #, as the hosting platforms write it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def with_links(tokens: Sequence[Token], resolve: Resolve) -> list[Token]:
    """With the links that lead somewhere; of the others only the words stay."""
    kept = []
    lost = False
    for token in tokens:
        if token.type == "link_open":
            address = resolve(str(token.attrGet("href")))
            lost = address is None
            if address is not None:
                token.attrSet("href", address)
        if not (lost and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def show_code(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """A block that can be scrolled by keyboard too."""
    fence = self.fence(tokens, at, options, env)
    return fence.replace("<pre>", '<pre tabindex="0">', 1)


def open_table(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return '<div class="table" tabindex="0"><table>\n'


def close_table(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table></div>\n"


MARKDOWN.add_render_rule("fence", show_code)
MARKDOWN.add_render_rule("table_open", open_table)
MARKDOWN.add_render_rule("table_close", close_table)
