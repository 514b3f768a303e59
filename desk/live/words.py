"""Notifications as sentences."""

from datetime import datetime
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext

from tickets.models import Notification
from tickets.statuses import By

ICONS = {
    Notification.Kind.ASSIGNED: "assignment_ind",
    Notification.Kind.ANSWERED: "reply",
    Notification.Kind.LATE: "alarm",
    Notification.Kind.MENTIONED: "alternate_email",
    Notification.Kind.WATCHED: "visibility",
    Notification.Kind.WOKEN: "schedule",
    Notification.Kind.ESCALATED: "arrow_circle_up",
    Notification.Kind.HELD: "pause_circle",
}


class NotificationLine(NamedTuple):
    """One notification as it is read."""

    ticket_id: int
    icon: str
    sentence: str
    at: datetime
    unread: bool

    @property
    def link(self) -> str:
        return reverse("admin:tickets_ticket_change", args=[self.ticket_id])


def notification_line(one: Notification) -> NotificationLine:
    kind = Notification.Kind(one.kind)
    return NotificationLine(
        one.ticket_id,
        ICONS[kind],
        notification_sentence(one, kind),
        one.created_at,
        one.read_at is None,
    )


def notification_sentence(one: Notification, kind: Notification.Kind) -> str:
    """What happened, with the names of the ticket, its company and the colleague."""
    facts = {"ticket": one.ticket_id, "company": one.ticket.company.name, "name": one.actor}
    by_company = one.by == By.COMPANY
    if kind == Notification.Kind.ASSIGNED:
        if one.by in (By.AGENT, By.LEAD):
            return gettext("%(name)s assigned ticket #%(ticket)d to you.") % facts
        return gettext("Ticket #%(ticket)d was assigned to you.") % facts
    if kind == Notification.Kind.ANSWERED:
        return gettext("%(company)s answered on ticket #%(ticket)d.") % facts
    if kind == Notification.Kind.LATE:
        return gettext("Ticket #%(ticket)d is due soon.") % facts
    if kind == Notification.Kind.WOKEN:
        return gettext("Ticket #%(ticket)d, which you snoozed, is back.") % facts
    if kind == Notification.Kind.MENTIONED:
        return gettext("%(name)s mentioned you on ticket #%(ticket)d.") % facts
    if kind == Notification.Kind.ESCALATED:
        return gettext("Ticket #%(ticket)d is due soon and needs a lead.") % facts
    if kind == Notification.Kind.HELD:
        return gettext("Your answer to ticket #%(ticket)d was held. It was not sent.") % facts
    if by_company:
        return gettext("%(company)s answered on ticket #%(ticket)d, which you watch.") % facts
    return gettext("Ticket #%(ticket)d, which you watch, was decided.") % facts
