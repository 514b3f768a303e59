"""What Unfold asks for when it draws a page. `config.look` names these: settings load no page."""

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext


def icon(request: HttpRequest) -> str:
    return static("desk/icon.svg")


def focus(request: HttpRequest) -> str:
    return static("desk/focus.js")


def touches(request: HttpRequest) -> str:
    return static("desk/touches.css")


def account_pages(request: HttpRequest) -> list[dict[str, str]]:
    return [
        {"title": gettext("Change password"), "link": reverse("admin:password_change")},
        {"title": gettext("Second factor"), "link": reverse("second_factor_device")},
    ]
