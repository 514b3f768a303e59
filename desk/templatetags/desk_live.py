"""The bell in the head of each page."""

import time
from typing import Any

from django import template
from django.http import HttpRequest

from tickets.models import Notification

register = template.Library()
MOST_COUNTED = 99


@register.inclusion_tag("desk/bell.html")
def bell(request: HttpRequest) -> dict[str, Any]:
    """Nothing for those who see no tickets: they are notified of nothing."""
    user = request.user
    if not user.has_perm("tickets.view_ticket"):
        return {"shown": False}
    mine = Notification.objects.unread().filter(recipient=user.pk)
    times = mine.newest().values_list("created_at", flat=True)[: MOST_COUNTED + 1]
    count = len(times)
    # A little earlier: what was being written then is not in it.
    made = int(time.time()) - 5
    return {
        "shown": True,
        "made": str(made),
        # Until when the bell has counted them: what comes later is told.
        "told": str(times[0].timestamp() if times else made),
        "unread": count,
        "text": f"{MOST_COUNTED}+" if count > MOST_COUNTED else count,
    }
