"""The bell and the bar with pending answers, on each page."""

import time
from typing import Any

from django import template
from django.db.models import Value
from django.http import HttpRequest

from desk.ticket.pending_bar import NOTHING_WAITS, bar_context, bar_row
from tickets.models import Notification

register = template.Library()
MOST_COUNTED = 99


@register.inclusion_tag("desk/bell.html")
def bell(request: HttpRequest) -> dict[str, Any]:
    """Build the bell; hidden from users who may not see tickets: they get no notifications."""
    user = request.user
    if not user.has_perm("tickets.view_ticket"):
        return {"shown": False}
    mine = Notification.objects.unread().filter(recipient=user.pk).newest()
    newest = mine.annotate(waits=Value(False)).values_list("created_at", "waits")
    # The same query tells if the bar has answers, which it rarely has: that saves the bar's own.
    rows = list(newest[: MOST_COUNTED + 1].union(bar_row(request), all=True))
    times = [at for at, waits in rows if not waits]
    vars(request)[NOTHING_WAITS] = len(times) == len(rows)
    count = len(times)
    # Some seconds earlier: transactions that were open just now are not in the page.
    rendered_at = int(time.time()) - 5
    return {
        "shown": True,
        "made": str(rendered_at),
        # Time of the newest counted notification: the page announces later ones.
        "told": str(max(times).timestamp() if times else rendered_at),
        "unread": count,
        "text": f"{MOST_COUNTED}+" if count > MOST_COUNTED else count,
    }


@register.inclusion_tag("desk/pending.html", takes_context=True)
def pending_bar(context: dict[str, Any]) -> dict[str, Any]:
    request = context.get("request")
    return bar_context(request) if request and request.user.is_authenticated else {}
