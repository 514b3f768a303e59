"""Rows of the list of tickets."""

from datetime import datetime
from typing import NamedTuple, TypedDict, cast

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_lazy

from core.values.money import money_text
from desk.common.admin_base import ModelAdmin
from desk.common.badges import badge
from desk.common.controls import isolate_text
from desk.common.generics import WithAnnotations
from desk.common.times import duration_text, iso_utc, local_text, snoozed_text
from tickets.changes.snoozing import asleep_until
from tickets.models import Comment, Ticket
from tickets.models.tickets import TicketQuerySet, parcel_column
from tickets.sla import clocks
from tickets.sla.clocks import ClockState
from tickets.statuses import By

PEEK = 120
ROW = (
    '<a class="desk-row" href="{}"><span class="desk-row-head">'
    '<span class="desk-id">#{}</span> <strong>{}</strong> <span class="desk-about">{}</span></span>'
    "{}</a>"
)
LAST = '<span class="desk-row-sub desk-peek"><span class="desk-by">{}:</span> {}</span>'
# CSS marks of running clocks.
MARKS = {ClockState.OVERDUE: "late", ClockState.SOON: "near", ClockState.RUNNING: ""}


class Peek(NamedTuple):
    """A row's parcel, last message, and the time until which the ticket is snoozed."""

    tracking: str = ""
    carrier: str = ""
    by: str = ""
    public: bool = True
    text: str = ""
    until: datetime | None = None


class Extras(TypedDict):
    """Attributes that `with_peeks()` sets on tickets."""

    peek: Peek


def with_peeks(tickets: list[Ticket]) -> list[WithAnnotations[Ticket, Extras]]:
    """Set `peek` on each ticket, in one query that reads one comment per ticket."""
    last = Comment.objects.filter(ticket=OuterRef("pk")).order_by("-pk")
    values = Ticket.objects.filter(pk__in=[ticket.pk for ticket in tickets]).values_list(
        "pk",
        parcel_column("tracking_number"),
        parcel_column("carrier_name"),
        Subquery(last.values("by")[:1]),
        Subquery(last.values("public")[:1]),
        asleep_until(),
        Subquery(last.values(start=Left("text", PEEK + 1))[:1]),
    )
    peeks = {
        pk: Peek(tracking or "", carrier or "", by or "", bool(public), text or "", until)
        for pk, tracking, carrier, by, public, until, text in values
    }
    rows = cast(list[WithAnnotations[Ticket, Extras]], tickets)
    for ticket in rows:
        peek = peeks.get(ticket.pk, Peek())
        if not peek.text:
            # A ticket without comments shows the company's own text.
            peek = peek._replace(by=By.COMPANY.value, public=True, text=ticket.comments[: PEEK + 1])
        ticket.peek = peek
    return rows


class Deadline(NamedTuple):
    text: str
    at: datetime | None = None
    # One of late, near, "".
    mark: str = ""


def due_deadline(ticket: Ticket, now: datetime) -> Deadline:
    state = clocks.next_promise(ticket, now)
    if state == ClockState.PAUSED:
        return Deadline(gettext("paused"))
    return row_deadline(ticket.due_at, now, gettext("overdue by %(distance)s"), state)


def claim_deadline(ticket: Ticket, now: datetime) -> Deadline:
    late = gettext("expired %(distance)s ago")
    return row_deadline(ticket.filing_due_at, now, late, clocks.filing_state(ticket, now))


def row_deadline(at: datetime | None, now: datetime, late: str, state: ClockState) -> Deadline:
    if at is None or state not in MARKS:
        return Deadline("")
    text = late if state == ClockState.OVERDUE else gettext("in %(distance)s")
    seconds = abs((at - now).total_seconds())
    return Deadline(text % {"distance": duration_text(seconds)}, at, MARKS[state])


def as_html(deadline: Deadline) -> SafeString | str:
    """Render a relative time with its mark; the tooltip has the absolute time."""
    if deadline.at is None:
        return deadline.text
    return format_html(
        '<time class="desk-time{}" datetime="{}" title="{}">{}</time>',
        f" desk-{deadline.mark}" if deadline.mark else "",
        iso_utc(deadline.at),
        local_text(deadline.at),
        deadline.text,
    )


def ticket_cell(ticket: Ticket, peek: Peek, address: str = "") -> SafeString:
    """Render a link to the ticket with its company, subject and last message.

    It is not a template: one per row takes longer than all queries of the page.
    """
    number = peek.tracking
    if not number and ticket.shipment_id:
        number = gettext("shipment %(shipment)d") % {"shipment": ticket.shipment_id}
    asleep = snoozed_text(peek.until) if peek.until else ""
    about = filter(None, (str(ticket.type), ticket.carrier_name or peek.carrier, number, asleep))
    said_last = Truncator(peek.text).chars(PEEK)
    return format_html(
        ROW,
        address or reverse("admin:tickets_ticket_change", args=[ticket.pk]),
        ticket.pk,
        isolate_text(ticket.company),
        format_html_join(" · ", "{}", ((isolate_text(one),) for one in about)),
        format_html(LAST, said_by(peek), isolate_text(said_last)) if peek.text else "",
    )


def said_by(peek: Peek) -> str:
    if not peek.public:
        return gettext("note")
    return gettext("company") if peek.by == By.COMPANY else gettext("agent")


def listed_tickets() -> TicketQuerySet:
    """Return all tickets, joined with the names that a list shows."""
    return Ticket.objects.select_related("company", "type", "agent__user")


class TicketRows(ModelAdmin):
    list_display = ("ticket", "status_pill", "agent_name", "due", "filing", "updated")
    list_display_links = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ticket]:
        return listed_tickets()

    @admin.display(description=gettext_lazy("ticket"))
    def ticket(self, ticket: Ticket) -> SafeString:
        return ticket_cell(ticket, getattr(ticket, "peek", Peek()), getattr(ticket, "address", ""))

    @admin.display(description=gettext_lazy("status"))
    def status_pill(self, ticket: Ticket) -> SafeString:
        return badge(ticket.status)

    @admin.display(description=gettext_lazy("agent"))
    def agent_name(self, ticket: Ticket) -> str:
        return str(ticket.agent) if ticket.agent else gettext("nobody")

    @admin.display(description=gettext_lazy("due"), ordering="due_at")
    def due(self, ticket: Ticket) -> SafeString | str:
        return as_html(due_deadline(ticket, timezone.now()))

    @admin.display(description=gettext_lazy("claim deadline"), ordering="filing_due_at")
    def filing(self, ticket: Ticket) -> SafeString | str:
        return as_html(claim_deadline(ticket, timezone.now()))

    @admin.display(description=gettext_lazy("claimed"))
    def claimed(self, ticket: Ticket) -> str:
        amount = ticket.amount_claimed
        return "" if amount is None else money_text(amount, ticket.currency)

    @admin.display(description=gettext_lazy("updated"))
    def updated(self, ticket: Ticket) -> SafeString | str:
        ago = max(0.0, (timezone.now() - ticket.updated_at).total_seconds())
        text = gettext("%(distance)s ago") % {"distance": duration_text(ago)}
        return as_html(Deadline(text, ticket.updated_at))
