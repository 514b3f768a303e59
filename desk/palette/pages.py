"""What the palette offers for what is typed: pages that the person may see, and what is found."""

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext

from desk.common.pages import VIEW_TICKET, desk_page, draw
from desk.queue import search, sidebar
from tickets.relevance import without_accents

LONGEST = 200
MOST_PAGES = 8


class Offer(NamedTuple):
    """One line of the palette, and where it leads."""

    title: str
    detail: str
    link: str
    icon: str


@desk_page()
def palette_page(request: HttpRequest) -> HttpResponse:
    """As JSON for the box on every page; as a page of links for who has no scripts."""
    words = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST]
    found = offers(request, words)
    if request.GET.get("as") == "json":
        answer = JsonResponse({"offers": [one._asdict() for one in found]})
        answer["Cache-Control"] = "no-store"
        return answer
    title = gettext("Search or run")
    return draw(request, "desk/palette.html", title, words=words, offers=found)


def offers(request: HttpRequest, words: str) -> list[Offer]:
    """The pages whose names fit, then what is found; without words, all pages."""
    pages = [page for page in all_pages(request) if fits(page.title, words)]
    if not words:
        return pages
    return [*pages[:MOST_PAGES], *found_by_search(request, words)]


def all_pages(request: HttpRequest) -> list[Offer]:
    """Where the side bar leads, for whoever asks."""
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
    """Each word begins a word of the title; neither case nor accents count."""
    parts = without_accents(title).split()
    return all(
        any(part.startswith(word) for part in parts) for word in without_accents(words).split()
    )
