"""Addresses that only forms are sent to: an answer to links, and the way on from a form."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse


class OnlySent:
    """Gives the empty 405 of the desk some words and a way back; late sign-ins lead there, mostly.

    A page whose script sends its form (`Desk-Page`) is told in `Desk-Next` where to go, so that it
    can go there in its own place: Back never leads to a form that was sent.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 405 and request.path.startswith("/admin/"):
            known = request.resolver_match.kwargs if request.resolver_match else {}
            response.content = render_to_string("405.html", {"ticket": known.get("ticket_id")})
        next_page = response.headers.get("Location", "")
        to_sign_in = next_page.startswith(reverse("admin:login"))
        if next_page and "Desk-Page" in request.headers and not to_sign_in:
            del response.headers["Location"]
            response.status_code, response.headers["Desk-Next"] = 200, next_page
        return response
