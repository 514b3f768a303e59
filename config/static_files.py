"""Styles, scripts and fonts: compressed and cached for a year, without a build step.

An address has the content's hash: `/static/desk/list.js?v=3f0c…`. New content gets a new address,
so a browser never requests a file twice and never shows an old one.
"""

import gzip
import hashlib
import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.exceptions import SuspiciousFileOperation
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseNotFound
from django.utils.cache import get_conditional_response

# Files that are sent as one: for every page of the desk (shell), and for a ticket's page.
BUNDLES = {
    "desk/shell.css": (
        "desk/fonts.css",
        "unfold/css/styles.css",
        "unfold/css/simplebar/simplebar.css",
        "desk/touches.css",
        "desk/palette.css",
        "desk/live.css",
        "desk/print.css",
    ),
    "desk/shell.js": (
        "unfold/js/htmx/htmx.js",
        "unfold/js/app.js",
        "unfold/js/simplebar/simplebar.js",
        "unfold/js/alpine/alpine.anchor.js",
        "unfold/js/alpine/alpine.persist.js",
        "unfold/js/alpine/alpine.resize.js",
        "unfold/js/alpine/alpine.js",
        "desk/focus.js",
        "desk/chooser.js",
        "desk/copy.js",
        "desk/palette.js",
        "desk/live.js",
        "desk/live_list.js",
        "desk/pending.js",
    ),
    "desk/ticket_page.css": (
        "desk/desk.css",
        "desk/ticket.css",
        "desk/together.css",
        "desk/walk.css",
        "desk/claim.css",
    ),
    "desk/ticket_page.js": (
        "desk/ticket.js",
        "desk/macros.js",
        "desk/sending.js",
        "desk/pasting.js",
        "desk/claim.js",
        "desk/viewer.js",
        "desk/live_ticket.js",
        "desk/together.js",
        "desk/walk.js",
    ),
}
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
COMPRESSED_ALREADY = {".woff2", ".png"}
# For an address with the current hash, and for one without a hash or with an older one.
FOR_A_YEAR = "public, max-age=31536000, immutable"
FOR_A_MINUTE = "public, max-age=60"
# A style's reference by a relative path; not data:, an absolute path or another host.
REFERENCE = re.compile(rb"""url\((["']?)(?!data:|https?:|/|#)([^"')?#]+)\1\)""")
ACCEPTS_GZIP = re.compile(r"\bgzip\b")


class StaticFile(NamedTuple):
    """Content of a file and its hash; `gzipped` is None for types that are compressed already."""

    content: bytes
    gzipped: bytes | None
    version: str


cached_files: dict[str, StaticFile] = {}


def static_file(name: str) -> StaticFile | None:
    """Return the file or bundle with this name, read and compressed once; None if unknown."""
    if name in cached_files and not settings.DEBUG:
        return cached_files[name]
    content = contents_of(name)
    if content is None:
        return None
    compress = posixpath.splitext(name)[1] not in COMPRESSED_ALREADY
    cached_files[name] = compress_content(content, compress=compress)
    return cached_files[name]


def compress_content(content: bytes, *, compress: bool) -> StaticFile:
    gzipped = gzip.compress(content, mtime=0) if compress else None
    return StaticFile(content, gzipped, hashlib.sha256(content).hexdigest()[:12])


def contents_of(name: str) -> bytes | None:
    if name in BUNDLES:
        # A script may end without a semicolon, and the next one would continue its statement.
        joint = b"\n;\n" if name.endswith(".js") else b"\n"
        return joint.join(filter(None, map(contents_of, BUNDLES[name])))
    try:
        path = finders.find(name)
    except (SuspiciousFileOperation, ValueError):
        return None
    if path is None or not Path(path).is_file():
        return None
    content = Path(path).read_bytes()
    if not name.endswith(".css"):
        return content
    return REFERENCE.sub(
        lambda match: b"url(%s)" % relative_address(name, match[2].decode()).encode(), content
    )


def relative_address(name: str, path: str) -> str:
    """Return the address of a file by its path relative to that of the style `name`."""
    return hashed_address(posixpath.normpath(posixpath.join(posixpath.dirname(name), path)))


def hashed_address(name: str) -> str:
    file = static_file(name)
    return f"{settings.STATIC_URL}{name}" + (f"?v={file.version}" if file else "")


class HashedAddresses(StaticFilesStorage):
    """Storage that gives `{% static %}` its addresses."""

    def url(self, name: str | None) -> str:
        return hashed_address(name or "")


class StaticFiles:
    """Middleware that serves the paths below STATIC_URL."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(settings.STATIC_URL):
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        name = request.path_info.removeprefix(settings.STATIC_URL)
        file = static_file(name)
        return file_response(request, name, file) if file else HttpResponseNotFound()


def file_response(request: HttpRequest, name: str, file: StaticFile) -> HttpResponse:
    accepts = ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", ""))
    content = (accepts and file.gzipped) or file.content
    kind = TYPES.get(posixpath.splitext(name)[1], "application/octet-stream")
    response = HttpResponse(content, content_type=kind)
    current = request.GET.get("v") == file.version
    response.headers["Cache-Control"] = FOR_A_YEAR if current else FOR_A_MINUTE
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["ETag"] = etag = f'W/"{file.version}"'
    if content is not file.content:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Length"] = str(len(content))
    unchanged = get_conditional_response(request, etag=etag, response=response)
    return unchanged if isinstance(unchanged, HttpResponse) else response
