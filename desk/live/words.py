"""Notifications as sentences."""

from datetime import datetime
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

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
SENTENCES = {
    Notification.Kind.ASSIGNED: _("Ticket #%(ticket)d was assigned to you."),
    Notification.Kind.ANSWERED: _("%(company)s answered on ticket #%(ticket)d."),
    Notification.Kind.LATE: _("Ticket #%(ticket)d is due soon."),
    Notification.Kind.WOKEN: _("Ticket #%(ticket)d, which you snoozed, is back."),
    Notification.Kind.MENTIONED: _("%(name)s mentioned you on ticket #%(ticket)d."),
    Notification.Kind.ESCALATED: _("Ticket #%(ticket)d is due soon and needs a lead."),
    Notification.Kind.HELD: _("Your answer to ticket #%(ticket)d was held. It was not sent."),
    Notification.Kind.WATCHED: _("Ticket #%(ticket)d, which you watch, was decided."),
}


class NotificationLine(NamedTuple):
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
    sentence = SENTENCES[kind]
    if kind == Notification.Kind.ASSIGNED and one.by in (By.AGENT, By.LEAD):
        sentence = _("%(name)s assigned ticket #%(ticket)d to you.")
    if kind == Notification.Kind.WATCHED and one.by == By.COMPANY:
        sentence = _("%(company)s answered on ticket #%(ticket)d, which you watch.")
    facts = {"ticket": one.ticket_id, "company": one.ticket.company.name, "name": one.actor}
    return str(sentence) % facts
