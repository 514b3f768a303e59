"""Rendering of our documents' Markdown as HTML. Pure: no database and no settings."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# HTML in a document is escaped.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
DEEPEST_LISTED = 3

# Maps the target of a link to its address, or to None if readers of the pages cannot open it.
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
    """Render a document. Its first heading is the title, those below it the contents."""
    tokens = MARKDOWN.parse(text)
    headings = number_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = with_links(token.children, resolve)
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    contents = [heading for heading in headings if 1 < heading.level <= DEEPEST_LISTED]
    return Rendered(headings[0].text, html, contents)


def number_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give every heading an anchor; return the headings in order."""
    headings = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = plain_text(inline)
            heading = Heading(int(token.tag[1]), anchor(text), text)
            token.attrSet("id", heading.anchor)
            headings.append(heading)
    return headings


def plain_text(inline: Token) -> str:
    return "".join(token.content for token in inline.children or [])


def anchor(heading: str) -> str:
    """Return a heading's fragment for links, as GitHub and GitLab make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def with_links(tokens: Sequence[Token], resolve: Resolve) -> list[Token]:
    """Replace the addresses of links; a link without an address becomes plain text."""
    output = []
    is_unresolved = False
    for token in tokens:
        if token.type == "link_open":
            address = resolve(str(token.attrGet("href")))
            is_unresolved = address is None
            if address is not None:
                token.attrSet("href", address)
        if not (is_unresolved and token.type in ("link_open", "link_close")):
            output.append(token)
    return output


def show_code(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Render a block of code that can be scrolled by keyboard."""
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
