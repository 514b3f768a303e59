"""What Unfold asks for when it draws a page. `config.look` names these: settings load no page."""

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse


def icon(request: HttpRequest) -> str:
    return static("desk/icon.svg")


def focus(request: HttpRequest) -> str:
    return static("desk/focus.js")


def touches(request: HttpRequest) -> str:
    return static("desk/touches.css")


def account_pages(request: HttpRequest) -> list[dict[str, str]]:
    return [
        {"title": "Change password", "link": reverse("admin:password_change")},
        {"title": "Second factor", "link": reverse("second_factor_device")},
    ]
