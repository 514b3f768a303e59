"""Answers of the company's page that say what is wrong and what to do."""

from typing import NamedTuple, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language_from_request, gettext, gettext_noop

from core.api.minute_counter import WINDOW_SECONDS
from core.values.times import whole_seconds

HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


class Problem(NamedTuple):
    """Status, heading and text of an answer."""

    status: int
    heading: str
    text: str


PROBLEMS = {
    "off": Problem(
        404,
        gettext_noop("This page is switched off"),
        gettext_noop("Answer where you opened the ticket, or ask the platform that you use."),
    ),
    "closed": Problem(
        403,
        gettext_noop("This page is closed"),
        gettext_noop(
            "Open it with the link in our latest email about the ticket, or with the button of the"
            " platform that you use."
        ),
    ),
    "over_link": Problem(
        410,
        gettext_noop("This link no longer opens the ticket"),
        gettext_noop(
            "Open the link in our latest email about the ticket, or go to where you opened the"
            " ticket. Links end some weeks after a ticket's last change."
        ),
    ),
    "over_session": Problem(
        410,
        gettext_noop("This address was already used, or is too old"),
        gettext_noop("Go back to the platform that you use, and press the button again."),
    ),
    "stale": Problem(
        403,
        gettext_noop("Nothing was sent"),
        gettext_noop("This page was out of date. Go back, load it again, and send it once more."),
    ),
    "too_often": Problem(
        429,
        gettext_noop("Too many requests"),
        gettext_noop("Wait a minute, then load this page again."),
    ),
    "not_found": Problem(
        404,
        gettext_noop("Page not found"),
        gettext_noop("Check the address, or open the link in our email once more."),
    ),
    "malformed": Problem(
        400,
        gettext_noop("Nothing was sent"),
        gettext_noop("Go back, choose fewer or smaller files, and send it again."),
    ),
    "too_large": Problem(
        413,
        gettext_noop("Too much at a time"),
        gettext_noop("Go back, choose fewer or smaller files, and send it again."),
    ),
    "broken": Problem(
        500,
        gettext_noop("Something went wrong on our side"),
        gettext_noop("Nothing is lost. Go back, and send it again in a moment."),
    ),
    "left": Problem(200, gettext_noop("You have left"), gettext_noop("You can close this.")),
}


def problem(request: HttpRequest, name: str, status: int | None = None) -> HttpResponse:
    """Render one of PROBLEMS in the language of the visitor, or of whoever is not known."""
    found = PROBLEMS[name]
    visitor = getattr(request, "visitor", None)
    with translation.override(visitor.language if visitor else get_language_from_request(request)):
        context = {"heading": gettext(found.heading), "text": gettext(found.text)}
        code = status or found.status
        response = render(request, "portal/problem.html", context, status=code)
    if code == 429:
        response["Retry-After"] = str(whole_seconds(WINDOW_SECONDS))
    return cast(HttpResponse, private(response))


def private(response: HttpResponseBase) -> HttpResponseBase:
    """Keep a page out of caches, referrers and search engines."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    patch_vary_headers(response, ["Cookie"])
    return response
