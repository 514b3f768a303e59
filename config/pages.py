"""What pages need that no app is about: /schema, the way to the desk, the environment's name."""

import json
from collections.abc import Callable
from functools import cache, wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from drf_spectacular.generators import SchemaGenerator

from config.errors import error_response
from config.static_files import StaticFile, packed, sent

View = Callable[..., HttpResponseBase]


def only_to_read(view: View) -> View:
    """Decorate a view that answers GET and HEAD; other methods get a 405."""

    @wraps(view)
    def read(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.method in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        answer = error_response(request, 405, f'Method "{request.method}" not allowed.')
        answer["Allow"] = "GET, HEAD"
        return answer

    return read


@only_to_read
def desk(request: HttpRequest) -> HttpResponse:
    """Lead who types the address of the service alone, or the desk's without its slash."""
    return redirect("admin:index")


@cache
def description() -> StaticFile:
    """Made and compressed once per process: to make it costs what a hundred requests do."""
    told = SchemaGenerator().get_schema(request=None, public=True)
    return packed(json.dumps(told).encode(), compress=True)


def schema(request: HttpRequest) -> HttpResponse:
    return sent(request, "schema.json", description())


def environment_badge(request: HttpRequest) -> list[str] | None:
    """An agent must see at a glance whether this is the test environment."""
    if settings.ENVIRONMENT == "production":
        return None
    return [settings.ENVIRONMENT, "warning"]
