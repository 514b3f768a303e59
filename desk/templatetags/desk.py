"""How the desk writes moments and statuses."""

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
from desk.common.controls import isolated
from desk.common.times import as_clock_time, distance, iso_utc, local_text, snoozed_text
from desk.ticket import values
from shipments.carrier_pages import parcel_context
from shipments.labels import tracking_label
from tickets.changes import mentions
from tickets.sla.policy import current_rules

register = template.Library()

ADDRESS = re.compile(r"https://[^\s<>\"'`]+")
LINK = '<a href="{0}" rel="noopener noreferrer nofollow" target="_blank"><bdi>{0}</bdi></a>'
# A message of nothing but addresses is read by nobody, and each is judged anew.
MOST_LINKS = 50
CHIP = '<span class="desk-mention{}">@{}</span>'


register.filter("foreign", isolated)
register.filter("snoozed", snoozed_text)
# A tracking number with its carrier, a link to the carrier's page and a copy button.
register.inclusion_tag("desk/parcel.html", name="parcel")(parcel_context)


@register.filter
def letter_key(number: int) -> str:
    """Name the key of a choice by its place: a for 1; "" behind z."""
    return chr(96 + number) if number <= 26 else ""


@register.simple_tag
def filing_rules_missing() -> bool:
    """Is there no filing rule at all, so that no ticket has a claim deadline?"""
    return not current_rules().filing


@register.filter
def ago(at: datetime, now: datetime | None = None) -> str:
    """How far a moment lies from now, in its largest unit: `5 min ago`, `in 3 d`."""
    seconds = ((now or timezone.now()) - at).total_seconds()
    if abs(seconds) < 60:
        return gettext("just now") if seconds >= 0 else gettext("in a moment")
    if seconds > 0:
        return gettext("%(distance)s ago") % {"distance": distance(seconds)}
    return gettext("in %(distance)s") % {"distance": distance(-seconds)}


@register.filter
def age(at: datetime) -> str:
    """As `ago`, and to the second within the first minute."""
    seconds = int((timezone.now() - at).total_seconds())
    if not 1 <= seconds < 60:
        return ago(at)
    return ngettext("%(count)d second ago", "%(count)d seconds ago", seconds) % {"count": seconds}


@register.filter
def moment(at: datetime | None) -> SafeString | str:
    """Write a moment in the reader's zone, and how long ago or until then."""
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
    """In the reader's zone, to the second; for a machine the instant in UTC."""
    known = parse_datetime(at) if isinstance(at, str) else at
    if known is None:
        return ""
    # What the API is told is written without a zone, in UTC.
    return as_clock_time(known if known.tzinfo else known.replace(tzinfo=UTC))


register.filter("tracking", tracking_label)


@register.filter
def linked(text: str, mentioned: Mapping[str, bool] | None = None) -> SafeString:
    """Words with the addresses in them as links, where those lead to the public web.

    Names behind an @ that are `mentioned` are chips; of the viewer where the value is true.
    """
    text = legible(text)
    parts, end = [], 0
    for found in islice(ADDRESS.finditer(text), MOST_LINKS):
        address = found[0].rstrip(".,;:!?)]}")
        if values.leads_to_the_public_web(address):
            parts += [*chips(text[end : found.start()], mentioned), format_html(LINK, address)]
            end = found.start() + len(address)
    parts += chips(text[end:], mentioned)
    joined = format_html_join("", "{}", ((part,) for part in parts))
    return format_html("<bdi>{}</bdi>", joined)


def chips(text: str, mentioned: Mapping[str, bool] | None) -> list[str]:
    parts, end = [], 0
    for found in mentions.CALLED.finditer(text) if mentioned else ():
        name = found[1].rstrip(".+-")
        if mentioned and name in mentioned:
            mark = " desk-mention-me" if mentioned[name] else ""
            parts += [text[end : found.start()], format_html(CHIP, mark, name)]
            end = found.start(1) + len(name)
    return [*parts, text[end:]]


@register.filter
def pill(status: int | None) -> SafeString | str:
    """A status as a coloured word; nothing for none."""
    return "" if status is None else badge(status)
