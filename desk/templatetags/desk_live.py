"""The bell in the head of each page."""

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
    """Nothing for those who see no tickets: they are notified of nothing."""
    user = request.user
    if not user.has_perm("tickets.view_ticket"):
        return {"shown": False}
    mine = Notification.objects.unread().filter(recipient=user.pk).newest()
    newest = mine.annotate(waits=Value(False)).values_list("created_at", "waits")
    # In one query whether there is anything for the bar below: there mostly is not.
    shown = list(newest[: MOST_COUNTED + 1].union(bar_row(request), all=True))
    times = [at for at, waits in shown if not waits]
    vars(request)[NOTHING_WAITS] = len(times) == len(shown)
    count = len(times)
    # A little earlier: what was being written then is not in it.
    made = int(time.time()) - 5
    return {
        "shown": True,
        "made": str(made),
        # Until when the bell has counted them: what comes later is told.
        "told": str(max(times).timestamp() if times else made),
        "unread": count,
        "text": f"{MOST_COUNTED}+" if count > MOST_COUNTED else count,
    }


@register.inclusion_tag("desk/pending.html", takes_context=True)
def pending_bar(context: dict[str, Any]) -> dict[str, Any]:
    request = context.get("request")
    return bar_context(request) if request and request.user.is_authenticated else {}
