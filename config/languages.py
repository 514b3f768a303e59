"""Language of the API."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation


class English:
    """Middleware that makes English the language of every answer (decision N21).

    LANGUAGE_CODE and Accept-Language have no effect. The desk has a middleware of its own
    (`desk.people.language`).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with translation.override("en"):
            return self.get_response(request)
