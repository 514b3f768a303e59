"""Pages of a user's notifications, and the state of the bell."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from core.values.ids import read_id
from core.values.texts import show_controls
from desk.common.pages import VIEW_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from desk.live.words import notification_line
from desk.queue import queues
from tickets.changes.notifications import mark_read
from tickets.models import Notification
from tickets.models.notifications import NotificationQuerySet

MOST_LISTED = 50
# More would disappear before they are read.
IN_A_TOAST = 3


@desk_page(VIEW_TICKET)
def list_page(request: StaffRequest) -> HttpResponse:
    """List the newest notifications, read or not."""
    newest = of_user(request).select_related("ticket__company").newest()[:MOST_LISTED]
    lines = [notification_line(one) for one in newest]
    title = gettext("Notifications")
    return draw(request, "admin/notifications.html", title, notifications=lines)


@desk_page(VIEW_TICKET, post_only=True)
def read_page(request: StaffRequest) -> HttpResponse:
    """Mark the notifications of a ticket, or all, as read. Raises PermissionDenied."""
    text = request.POST.get("ticket", "")
    ticket_id = read_id(text)
    if text and ticket_id is None:
        raise PermissionDenied
    mark_read(request.user, ticket_id=ticket_id)
    return redirect("desk_notifications")


@desk_page(VIEW_TICKET)
def mine_page(request: StaffRequest) -> HttpResponse:
    """Return the state of the bell and the badges of the user's own queues, as JSON."""
    unread = of_user(request).unread()
    newest = unread.select_related("ticket__company").newest()[:IN_A_TOAST]
    queues.forget_counts(request.user)
    counts = queues.queue_counts(request).counts
    answer = JsonResponse(
        {
            "unread": unread.count(),
            "newest": [
                {
                    "ticket": line.ticket_id,
                    "text": show_controls(line.sentence),
                    "link": line.link,
                    "at": line.at.timestamp(),
                }
                for line in map(notification_line, newest)
            ],
            "counts": {slug: queues.short_count(counts[slug]) or "" for slug in queues.PERSONAL},
            "list": reverse("desk_notifications"),
        }
    )
    answer["Cache-Control"] = "no-store"
    return answer


def of_user(request: StaffRequest) -> NotificationQuerySet:
    return Notification.objects.filter(recipient=request.user)
