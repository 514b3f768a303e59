"""Middleware for POST-only pages: a page for 405, and the next page after a form."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse


class PostOnly:
    """Middleware that gives 405 responses, mostly after late sign-ins, a page with a way back.

    A page whose script submits its form (`Desk-Page`) gets the redirect as `Desk-Next`, so that it
    can replace itself in the history: Back then never leads to a submitted form.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 405 and request.path.startswith("/admin/"):
            arguments = request.resolver_match.kwargs if request.resolver_match else {}
            response.content = render_to_string("405.html", {"ticket": arguments.get("ticket_id")})
        next_page = response.headers.get("Location", "")
        to_sign_in = next_page.startswith(reverse("admin:login"))
        if next_page and "Desk-Page" in request.headers and not to_sign_in:
            del response.headers["Location"]
            response.status_code, response.headers["Desk-Next"] = 200, next_page
        return response
