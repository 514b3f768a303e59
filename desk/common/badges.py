"""Badges of statuses: a word in its colour."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from tickets.labels import status_label
from tickets.statuses import Status

BADGE = '<span class="desk-pill {}">{}</span>'


def tint(status: Status) -> str:
    """Return the CSS class that gives badges and buttons the colour of a status."""
    return f"desk-tint-{status.row.colour}"


def badge(status: int) -> SafeString:
    one = Status(status)
    return format_html(BADGE, tint(one), status_label(one))
