"""A page for who comes by a link to where only forms are sent: after a late sign-in, mostly."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


class OnlySent:
    """Gives the empty 405 of the desk some words and a way back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 405 and request.path.startswith("/admin/"):
            known = request.resolver_match.kwargs if request.resolver_match else {}
            response.content = render_to_string("405.html", {"ticket": known.get("ticket_id")})
        return response
