"""How the desk writes times: in the language and the zone of whoever reads them (decision N20)."""

from datetime import UTC, date, datetime, time

from django.utils import timezone
from django.utils.formats import date_format, time_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from core.values.zones import active_zone, utc_offset, zone_name


def distance(seconds: float) -> str:
    """In the largest whole unit: 50 s, 12 min, 3 h, 2 d."""
    if seconds >= 86_400:
        return gettext("%(days)d d") % {"days": seconds // 86_400}
    if seconds >= 3_600:
        return gettext("%(hours)d h") % {"hours": seconds // 3_600}
    if seconds >= 60:
        return gettext("%(minutes)d min") % {"minutes": seconds // 60}
    return gettext("%(seconds)d s") % {"seconds": seconds}


def midnight(day: date) -> datetime:
    """Return when a day begins, where the reader is."""
    return timezone.make_aware(datetime.combine(day, time.min))


def local_text(at: datetime) -> str:
    """To the minute. The page names the zone once."""
    return date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")


def weekday_text(day: date) -> str:
    """Name a day as people say it: Friday 27 November."""
    return date_format(day, gettext("l j F"))


def snoozed_text(until: datetime) -> str:
    """Say until when a ticket is snoozed: a day, and the time unless the day begins it."""
    local = timezone.localtime(until)
    clock = "" if local.time() == time.min else f", {time_format(local, 'H:i')}"
    return gettext("Snoozed until %(day)s") % {"day": f"{weekday_text(local)}{clock}"}


def iso_utc(at: datetime) -> str:
    """For `<time datetime>`: the instant, whoever reads it."""
    return at.astimezone(UTC).isoformat()


def as_clock_time(at: datetime) -> SafeString:
    """To the second, for what is compared with logs."""
    local = timezone.localtime(at)
    text = f"{date_format(local, 'SHORT_DATE_FORMAT')} {time_format(local, 'H:i:s')}"
    return format_html('<time datetime="{}">{}</time>', iso_utc(at), text)


def zone_text(at: datetime) -> str:
    """Name the reader's zone, with its distance from UTC: Central Time, UTC-06:00."""
    name = zone_name(active_zone(), at)
    offset = utc_offset(timezone.localtime(at))
    return name if name == offset else f"{name}, {offset}"
