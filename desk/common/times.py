"""Times in the language and the zone of the reader (decision N20)."""

from datetime import UTC, date, datetime, time

from django.utils import timezone
from django.utils.formats import date_format, time_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from core.values.zones import active_zone, utc_offset, zone_name


def duration_text(seconds: float) -> str:
    """Format a duration in its largest whole unit: 50 s, 12 min, 3 h, 2 d."""
    if seconds >= 86_400:
        return gettext("%(days)d d") % {"days": seconds // 86_400}
    if seconds >= 3_600:
        return gettext("%(hours)d h") % {"hours": seconds // 3_600}
    if seconds >= 60:
        return gettext("%(minutes)d min") % {"minutes": seconds // 60}
    return gettext("%(seconds)d s") % {"seconds": seconds}


def midnight(day: date) -> datetime:
    """Return the start of a day in the reader's zone."""
    return timezone.make_aware(datetime.combine(day, time.min))


def local_text(at: datetime) -> str:
    """Format a time to the minute, without the zone, which the page names once."""
    return date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")


def weekday_text(day: date) -> str:
    """Format a day as people say it: Friday 27 November."""
    return date_format(day, gettext("l j F"))


def snoozed_text(until: datetime) -> str:
    """Say until when a ticket is snoozed: the day, and the time unless it is midnight."""
    local = timezone.localtime(until)
    clock = "" if local.time() == time.min else f", {time_format(local, 'H:i')}"
    return gettext("Snoozed until %(day)s") % {"day": f"{weekday_text(local)}{clock}"}


def iso_utc(at: datetime) -> str:
    """Format an instant in UTC, for `<time datetime>`."""
    return at.astimezone(UTC).isoformat()


def as_clock_time(at: datetime) -> SafeString:
    """Format a time to the second as a `<time>` element, for comparison with logs."""
    local = timezone.localtime(at)
    text = f"{date_format(local, 'SHORT_DATE_FORMAT')} {time_format(local, 'H:i:s')}"
    return format_html('<time datetime="{}">{}</time>', iso_utc(at), text)


def zone_text(at: datetime) -> str:
    """Name the reader's zone with its offset from UTC: Central Time, UTC-06:00."""
    name = zone_name(active_zone(), at)
    offset = utc_offset(timezone.localtime(at))
    return name if name == offset else f"{name}, {offset}"
