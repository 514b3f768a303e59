"""What pages need that no app is about: /schema, the way to the desk, the environment's name."""

import json
import os
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from drf_spectacular.generators import SchemaGenerator

from config.errors import error_response
from config.static_files import StaticFile, packed, sent
from core.jobs.forking import fork_into

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


def describe() -> bytes:
    """Return what GET /schema says. To make it costs what a hundred requests do, and 15 MB."""
    return json.dumps(SchemaGenerator().get_schema(request=None, public=True)).encode()


def describe_in_child() -> bytes:
    """Do the same in a process of its own, whose memory is free again when it ends."""
    reader, writer = os.pipe()

    def write() -> None:
        with open(writer, "wb") as pipe:
            pipe.write(describe())

    child = fork_into(write)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise RuntimeError(f"the process that describes the API ended with status {status}")
    return text


class Description:
    """GET /schema as it is sent. Processes that are forked share it, and none makes it again.

    Why: decision page config-the-description-is-made-before-the-fork.
    """

    made: StaticFile | None = None

    @classmethod
    def load(cls, make: Callable[[], bytes] = describe_in_child) -> StaticFile:
        """Make it, before processes are forked."""
        cls.made = packed(make(), compress=True)
        return cls.made


def schema(request: HttpRequest) -> HttpResponse:
    return sent(request, "schema.json", Description.made or Description.load(describe))


def environment_badge(request: HttpRequest) -> list[str] | None:
    """An agent must see at a glance whether this is the test environment."""
    if settings.ENVIRONMENT == "production":
        return None
    return [settings.ENVIRONMENT, "warning"]
