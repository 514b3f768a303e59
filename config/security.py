"""Security headers: a strict policy for every answer, and exceptions for pages."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

STRICT = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGES = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
# Guides have no scripts.
GUIDES = (
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
# The company's page: its own files, pictures of tickets, and nothing that is typed in by anybody.
COMPANY_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
# Alpine, which Unfold's menus and dialogs need, evaluates attributes. Inline scripts are forbidden.
DESK = f"{PAGES}; script-src 'self' 'unsafe-eval'"
NO_DEVICES = ", ".join(
    f"{feature}=()"
    for feature in ("camera", "geolocation", "microphone", "payment", "usb", "browsing-topics")
)


class SecurityHeaders:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy(request.path))
        response.headers.setdefault("Permissions-Policy", NO_DEVICES)
        return response


def policy(path: str) -> str:
    if path.startswith("/admin/"):
        return DESK
    if path.startswith("/c/"):
        return COMPANY_PAGE
    if path.startswith("/docs/guides"):
        return GUIDES
    return PAGES if path == "/docs" else STRICT
