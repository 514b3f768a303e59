"""Every request has an id, and every answer says it (decision page config-a-request-has-an-id)."""

from collections.abc import Callable
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from companies import request_ids


class RequestIds:
    """The first middleware: whatever answers below it, also an error, gets the header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = request_ids.begin_request(request.headers.get(request_ids.HEADER, ""))
        response = self.get_response(request)
        response.headers[request_ids.HEADER] = request_id
        return response


@receiver(request_finished)
def forget_request(**_: Any) -> None:
    """Django logs some failures behind the last middleware: not before the answer is closed."""
    request_ids.end_request()
