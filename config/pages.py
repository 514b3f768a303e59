"""Pages of no app: /schema, redirects to the desk, and the badge of the environment."""

import json
import os
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from drf_spectacular.generators import SchemaGenerator

from config.errors import error_response
from config.static_files import StaticFile, compress_content, file_response
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
    """Redirect / and /admin to the desk."""
    return redirect("admin:index")


def describe() -> bytes:
    """Generate the body of GET /schema; this costs as much as a hundred requests, and 15 MB."""
    return json.dumps(SchemaGenerator().get_schema(request=None, public=True)).encode()


def describe_in_child() -> bytes:
    """Run `describe` in a child process, which frees its memory when it ends."""
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
    """Cached body of GET /schema, shared by forked processes.

    Why: decision page config-the-description-is-made-before-the-fork.
    """

    file: StaticFile | None = None

    @classmethod
    def load(cls, make: Callable[[], bytes] = describe_in_child) -> StaticFile:
        """Generate the body; call this before processes are forked."""
        cls.file = compress_content(make(), compress=True)
        return cls.file


def schema(request: HttpRequest) -> HttpResponse:
    file = Description.file or Description.load(describe)
    return file_response(request, "schema.json", file)


def environment_badge(request: HttpRequest) -> list[str] | None:
    """Return Unfold's badge, so that agents recognize a test environment; None in production."""
    if settings.ENVIRONMENT == "production":
        return None
    return [settings.ENVIRONMENT, "warning"]
