"""How the desk writes moments and statuses."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tickets.statuses import Status

register = template.Library()

UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


@register.filter
def ago(at: datetime, now: datetime | None = None) -> str:
    """How far a moment lies from now, in its largest unit: `5 min ago`, `in 3 d`."""
    seconds = ((now or timezone.now()) - at).total_seconds()
    for size, unit in UNITS:
        if abs(seconds) >= size:
            count = int(abs(seconds) // size)
            return f"{count} {unit} ago" if seconds > 0 else f"in {count} {unit}"
    return "just now" if seconds >= 0 else "in a moment"


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    """In UTC, and how long ago."""
    if at is None:
        return ""
    return format_html(
        '<time datetime="{}">{} UTC</time> <span class="desk-ago">{}</span>',
        at.isoformat(),
        at.strftime("%Y-%m-%d %H:%M"),
        ago(at),
    )


@register.filter
def pill(status: int | None) -> SafeString | str:
    """A status as a coloured word; nothing for none."""
    if status is None:
        return ""
    one = Status(status)
    return format_html(
        '<span class="desk-pill desk-status-{}">{}</span>', one.slug.replace("_", "-"), one.label
    )
