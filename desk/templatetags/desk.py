"""Template filters for times, statuses, links and mentions."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice

from django import template
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from core.values.texts import legible
from desk.common.badges import badge
from desk.common.controls import isolate_text
from desk.common.times import as_clock_time, duration_text, iso_utc, local_text, snoozed_text
from desk.ticket import values
from shipments.carrier_pages import parcel_context
from shipments.labels import tracking_label
from tickets.changes import mentions
from tickets.sla.policy import current_rules

register = template.Library()

ADDRESS = re.compile(r"https://[^\s<>\"'`]+")
LINK = '<a href="{0}" rel="noopener noreferrer nofollow" target="_blank"><bdi>{0}</bdi></a>'
# Each address is checked, so a message that consists of addresses must not take long.
MOST_LINKS = 50
CHIP = '<span class="desk-mention{}">@{}</span>'


register.filter("foreign", isolate_text)
register.filter("snoozed", snoozed_text)
# A tracking number with its carrier, a link to the carrier's page and a copy button.
register.inclusion_tag("desk/parcel.html", name="parcel")(parcel_context)


@register.filter
def letter_key(number: int) -> str:
    """Return the key of a choice by its position: "a" for 1; "" after "z"."""
    return chr(96 + number) if number <= 26 else ""


@register.simple_tag
def filing_rules_missing() -> bool:
    """Check if there is no filing rule at all, so that no ticket has a claim deadline."""
    return not current_rules().filing


@register.filter
def ago(at: datetime, now: datetime | None = None) -> str:
    """Format a time relative to now in its largest unit: `5 min ago`, `in 3 d`."""
    seconds = ((now or timezone.now()) - at).total_seconds()
    if abs(seconds) < 60:
        return gettext("just now") if seconds >= 0 else gettext("in a moment")
    if seconds > 0:
        return gettext("%(distance)s ago") % {"distance": duration_text(seconds)}
    return gettext("in %(distance)s") % {"distance": duration_text(-seconds)}


@register.filter
def age(at: datetime) -> str:
    """Format a time like `ago`, but in seconds within the first minute."""
    seconds = int((timezone.now() - at).total_seconds())
    if not 1 <= seconds < 60:
        return ago(at)
    return ngettext("%(count)d second ago", "%(count)d seconds ago", seconds) % {"count": seconds}


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    """Render a time in the reader's zone, with its distance from now."""
    if at is None:
        return ""
    if at <= timezone.now():
        words = '<span title="{}"><time datetime="{}">{}</time></span>'
        return format_html(words, ago(at), iso_utc(at), local_text(at))
    return format_html(
        '<time datetime="{}">{}</time> <span class="desk-ago">{}</span>',
        iso_utc(at),
        local_text(at),
        ago(at),
    )


@register.filter
def clock_time(at: datetime | str | None) -> SafeString | str:
    """Render a time in the reader's zone to the second, with its instant in UTC as an attribute."""
    parsed = parse_datetime(at) if isinstance(at, str) else at
    if parsed is None:
        return ""
    # Times of the API are texts in UTC, without a zone.
    return as_clock_time(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))


register.filter("tracking", tracking_label)


@register.filter
def linked(text: str, mentioned: Mapping[str, bool] | None = None) -> SafeString:
    """Render a text with its public addresses as links.

    Names after an @ that are in `mentioned` become chips; a true value marks the viewer's own.
    """
    text = legible(text)
    parts, end = [], 0
    for match in islice(ADDRESS.finditer(text), MOST_LINKS):
        address = match[0].rstrip(".,;:!?)]}")
        if values.leads_to_the_public_web(address):
            parts += [*chips(text[end : match.start()], mentioned), format_html(LINK, address)]
            end = match.start() + len(address)
    parts += chips(text[end:], mentioned)
    joined = format_html_join("", "{}", ((part,) for part in parts))
    return format_html("<bdi>{}</bdi>", joined)


def chips(text: str, mentioned: Mapping[str, bool] | None) -> list[str]:
    parts, end = [], 0
    for match in mentions.MENTION.finditer(text) if mentioned else ():
        name = match[1].rstrip(".+-")
        if mentioned and name in mentioned:
            mark = " desk-mention-me" if mentioned[name] else ""
            parts += [text[end : match.start()], format_html(CHIP, mark, name)]
            end = match.start(1) + len(name)
    return [*parts, text[end:]]


@register.filter
def pill(status: int | None) -> SafeString | str:
    """Render a status as a coloured word; "" for None."""
    return "" if status is None else badge(status)
