"""In which language requests are answered."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation


class English:
    """Middleware: the API answers in English, whatever a client asks for.

    Neither LANGUAGE_CODE nor Accept-Language changes an answer (decision N21). The desk has a
    middleware of its own (`desk.people.language`).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with translation.override("en"):
            return self.get_response(request)
