from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from config.guides.pages import guides
from config.pages import only_to_read

MINUTES = "public, max-age=300"


@only_to_read
def index(request: HttpRequest) -> HttpResponse:
    return for_some_minutes(render(request, "guides/index.html", {"guides": guides().values()}))


@only_to_read
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    """Raises Http404."""
    every = guides()
    if slug not in every:
        raise Http404
    shown = {"guides": every.values(), "guide": every[slug]}
    return for_some_minutes(render(request, "guides/guide.html", shown))


def for_some_minutes(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = MINUTES
    return response
