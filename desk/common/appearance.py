"""Callbacks of Unfold's settings, named in `config.look` so that settings load no page."""

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext

from desk.common.times import zone_text


def icon(request: HttpRequest) -> str:
    return static("desk/icon.svg")


def zone_line(request: HttpRequest) -> str:
    """Name the time zone of the page, for the line below the name in the side bar."""
    zone = capfirst(zone_text(timezone.now()))
    return gettext("Times: %(zone)s") % {"zone": zone} if zone.startswith("UTC") else zone


def account_pages(request: HttpRequest) -> list[dict[str, str]]:
    return [
        {"title": gettext("Language and time zone"), "link": reverse("desk_preferences")},
        {"title": gettext("Change password"), "link": reverse("admin:password_change")},
        {"title": gettext("Second factor"), "link": reverse("second_factor_device")},
        {"title": gettext("Your sessions"), "link": reverse("desk_sessions")},
    ]
