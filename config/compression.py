"""Compression of pages and of answers without secrets, which makes a list a tenth of its size."""

from typing import cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import get_conditional_response, set_response_etag

from companies.api.views import MAY_COMPRESS

# Public pages, without a secret and the same for everybody.
DOCS = "/docs"


class Compression(GZipMiddleware):
    """Middleware that compresses desk pages, documents, and answers that a view marks as safe.

    Documents also get an ETag here; those of the API are made by its views (core.api.conditional).
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if is_document(request, response):
            whole = cast(HttpResponse, response)
            set_response_etag(whole)
            unchanged = get_conditional_response(request, whole["ETag"], response=whole)
            response = unchanged or whole
        if may_compress(request, response):
            return super().process_response(request, response)
        return response


def is_document(request: HttpRequest, response: HttpResponseBase) -> bool:
    read = request.method in ("GET", "HEAD") and response.status_code == 200
    return read and not response.streaming and is_below_docs(request)


def is_below_docs(request: HttpRequest) -> bool:
    return request.path == DOCS or request.path.startswith(f"{DOCS}/")


def may_compress(request: HttpRequest, response: HttpResponseBase) -> bool:
    desk = request.path.startswith("/admin/")
    return desk or is_below_docs(request) or getattr(response, MAY_COMPRESS, False)
