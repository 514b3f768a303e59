"""Time zones of people, and moments in words that they use (decision N32).

CLDR, which libraries bring, calls the time of Mexico City "hora central"; in Mexico the law and the
people say "hora del centro". So the names of Mexico's zones stand here; others go by their city,
which `locale/others.pot` translates.
"""

from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import dateformat, timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

ZONES = {
    gettext_noop("Central Time"): "Mexico_City Monterrey Merida Chihuahua Bahia_Banderas",
    gettext_noop("Mexican Pacific Time"): "Mazatlan Hermosillo",
    gettext_noop("Northwest Mexico Time"): "Tijuana Ensenada Santa_Isabel",
    gettext_noop("Southeast Mexico Time"): "Cancun",
}
NAMES = {f"America/{city}": name for name, cities in ZONES.items() for city in cities.split()}


class PeoplesZone(ZoneInfo):
    """Time zone that shows instants beyond its range as UTC (N28)."""

    def fromutc(self, instant: datetime) -> datetime:
        try:
            return super().fromutc(instant)
        except OverflowError:
            return instant


def zone_named(name: str) -> ZoneInfo:
    """Return the zone of this name, or the deployment's if there is no such zone."""
    try:
        return PeoplesZone(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return PeoplesZone(settings.DESK_TIME_ZONE)


def active_zone() -> ZoneInfo:
    """Return the zone of whoever reads the page."""
    return timezone.get_current_timezone()


@cache
def known_zones() -> list[str]:
    """Return the names of all zones, which takes 50 ms to read."""
    return sorted(available_timezones())


def validate_zone(name: str) -> None:
    if name not in known_zones():
        text = gettext("There is no time zone %(name)s. Write it like Europe/Madrid.")
        raise ValidationError(text % {"name": name})


def zone_name(zone: ZoneInfo, at: datetime) -> str:
    """Name the zone as people of the active language do: Central Time, Madrid time, UTC."""
    if name := NAMES.get(zone.key):
        return gettext(name)
    area, _, name = zone.key.replace("_", " ").rpartition("/")
    if area in ("", "Etc"):
        return utc_offset(at.astimezone(zone))
    return gettext("%(city)s time") % {"city": gettext(name)}


def in_zone(heading: str) -> str:
    """Add the zone of the times below a heading."""
    return f"{heading} ({zone_name(active_zone(), timezone.now())})"


def utc_offset(local: datetime) -> str:
    sign = local.strftime("%z")
    return "UTC" if sign == "+0000" else f"UTC{sign[:3]}:{sign[3:5]}"


def moment_text(at: datetime, zone: ZoneInfo, *, year: bool = False) -> str:
    """Name day, time and zone: Thursday 26 November, 8:12 p.m. (Central Time).

    A year other than this one is named too, and the offset if the clock shows this time twice.
    """
    local, name = at.astimezone(zone), zone_name(zone, at)
    if local.utcoffset() != local.replace(fold=not local.fold).utcoffset():
        name = f"{name}, {utc_offset(local)}"
    year = year or local.year != timezone.localtime(timezone=zone).year
    pattern = gettext("l j F Y, g:i a") if year else gettext("l j F, g:i a")
    return f"{dateformat.format(local, pattern)} ({name})"


def minute_text(at: datetime | None, zone: ZoneInfo) -> str:
    """Format date and time for tables, whose heading names the zone; empty without a time."""
    return date_format(at.astimezone(zone), "SHORT_DATETIME_FORMAT") if at else ""
