"""Language and time zone of each user of the desk (decisions N20 and N21)."""

from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from core.values.zones import zone_named
from desk.common.cache import cached
from desk.models import Preferences

# Maximum delay of a zone set by a lead; the user's own choice counts immediately.
FRESH_SECONDS = 60


class Reading(NamedTuple):
    """Code of a language and name of a time zone."""

    language: str
    zone: str


def reading_of(user: User) -> Reading:
    """Return a user's choice; else, for the zone, the agent's; else the deployment's (cached)."""
    return Reading(*cached(key_of_user(user), FRESH_SECONDS, lambda: tuple(look_up_reading(user))))


def look_up_reading(user: User) -> Reading:
    """Read a user's language and zone from the database, in one query."""
    chosen = User.objects.filter(pk=user.pk).values_list(
        "preferences__language", "preferences__time_zone", "agent__time_zone"
    )
    language, own_zone, shifts_zone = chosen.first() or ("", "", "")
    # UTC is the default of agents, so it means that nobody has set a zone.
    agent_zone = shifts_zone if shifts_zone != "UTC" else ""
    zone = own_zone or agent_zone or settings.DESK_TIME_ZONE
    return Reading(language or settings.DESK_LANGUAGE, zone)


def key_of_user(user: User) -> str:
    return f"reading:{user.pk}"


def save_preferences(preferences: Preferences) -> None:
    """Save preferences, effective from the next page on."""
    preferences.save()
    cache.delete(f"desk:{key_of_user(preferences.user)}")


class DeskLanguage:
    """Middleware that activates the language and zone of the signed-in user."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/"):
            return self.get_response(request)
        reading = Reading(settings.DESK_LANGUAGE, settings.DESK_TIME_ZONE)
        if request.user.is_authenticated:
            reading = reading_of(request.user)
        with translation.override(reading.language), timezone.override(zone_named(reading.zone)):
            return self.get_response(request)
