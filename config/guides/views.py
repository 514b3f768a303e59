from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from config.guides.pages import client_files, guides
from config.pages import only_to_read

MINUTES = "public, max-age=300"


@only_to_read
def index(request: HttpRequest) -> HttpResponse:
    return for_some_minutes(render(request, "guides/index.html", {"guides": guides().values()}))


@only_to_read
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    """Render a guide. Raises Http404."""
    every = guides()
    if slug not in every:
        raise Http404
    context = {"guides": every.values(), "guide": every[slug]}
    return for_some_minutes(render(request, "guides/guide.html", context))


@only_to_read
def client_file(request: HttpRequest, path: str) -> HttpResponse:
    """Serve the source of a program in clients/. Raises Http404."""
    files = client_files()
    if path not in files:
        raise Http404
    text = files[path].read_bytes()
    return for_some_minutes(HttpResponse(text, content_type="text/plain; charset=utf-8"))


def for_some_minutes(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = MINUTES
    return response
