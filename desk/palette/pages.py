"""Offers of the command palette: pages that the user can open, and search results."""

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext

from desk.common.pages import VIEW_TICKET, desk_page, draw
from desk.queue import search, sidebar
from tickets.relevance import fold_accents

LONGEST = 200
MOST_PAGES = 8


class Offer(NamedTuple):
    """One line of the palette, with its link."""

    title: str
    detail: str
    link: str
    icon: str


@desk_page()
def palette_page(request: HttpRequest) -> HttpResponse:
    """Answer JSON to the box on every page, or a page of links to a browser without scripts."""
    words = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST]
    matches = offers(request, words)
    if request.GET.get("as") == "json":
        answer = JsonResponse({"offers": [one._asdict() for one in matches]})
        answer["Cache-Control"] = "no-store"
        return answer
    title = gettext("Search or run")
    return draw(request, "desk/palette.html", title, words=words, offers=matches)


def offers(request: HttpRequest, words: str) -> list[Offer]:
    """List pages with matching titles, then search results; without words, all pages."""
    pages = [page for page in all_pages(request) if fits(page.title, words)]
    if not words:
        return pages
    return [*pages[:MOST_PAGES], *found_by_search(request, words)]


def all_pages(request: HttpRequest) -> list[Offer]:
    """List the pages of the user's side bar."""
    return [
        Offer(str(item["title"]), str(group["title"]), str(item["link"]), str(item["icon"]))
        for group in sidebar.navigation(request, seldom=True)
        for item in group["items"]
    ]


def found_by_search(request: HttpRequest, words: str) -> list[Offer]:
    if not request.user.has_perm(VIEW_TICKET):
        return []
    hits = [
        Offer(str(hit.title), str(hit.description or ""), str(hit.link or ""), str(hit.icon or ""))
        for hit in search.palette(request, words)
    ]
    address = f"{reverse(sidebar.LIST)}?{urlencode({'q': words})}"
    everything = gettext("Search all tickets for “%(words)s”") % {"words": words}
    return [*hits, Offer(everything, "", address, "search")]


def fits(title: str, words: str) -> bool:
    """Return whether each word begins a word of the title, ignoring case and accents."""
    parts = fold_accents(title).split()
    return all(any(part.startswith(word) for part in parts) for word in fold_accents(words).split())
