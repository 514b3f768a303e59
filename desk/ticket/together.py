"""Collaboration on a ticket's page: watchers, mentions, related tickets and snoozing."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from core.data.reading_order import ReadingOrder
from desk.common.times import midnight, weekday_text
from desk.queue.queues import MOST_SHOWN as MOST_COUNTED
from desk.queue.queues import short_count
from desk.ticket.conversation import Line
from desk.ticket.timeline import TimelineMark
from tickets.assignment.handing_over import may_hand_over
from tickets.changes import mentions
from tickets.changes.relating import related_to
from tickets.changes.snoozing import NotSnoozed
from tickets.labels import status_label
from tickets.models import IncidenceLink, Mention, Ticket, Watch
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import OPEN, TERMINAL

MOST_SHOWN = 20


class OtherTicket(NamedTuple):
    """A ticket that is related to the one on the page, and in which ways."""

    row: Ticket
    same_shipment: bool
    same_incidence: bool
    related: bool


def other_tickets(ticket: Ticket) -> list[OtherTicket]:
    """Return the tickets linked by an agent, then others about the same shipment, newest first."""
    of_shipment = list(shown_fields(same_shipment(ticket)).order_by("-pk")[:MOST_SHOWN])
    by_hand = set(linked_by_hand(ticket))
    about = {row.pk for row in of_shipment}
    rows = list(of_shipment)
    if further := by_hand - about:
        rows += shown_fields(Ticket.objects.filter(pk__in=further)).order_by("-pk")
    others = [
        OtherTicket(row, row.pk in about, shares_incidence(row), row.pk in by_hand) for row in rows
    ]
    # The sort is stable: within both groups the newest comes first.
    return sorted(others, key=lambda other: not other.related)


def same_shipment(ticket: Ticket) -> TicketQuerySet:
    if ticket.shipment_id is None:
        return Ticket.objects.none()
    others = Ticket.objects.filter(company=ticket.company_id, shipment_id=ticket.shipment_id)
    of_both = IncidenceLink.objects.filter(
        ticket=OuterRef("pk"), incidence__ticket_links__ticket=ticket.pk
    )
    return others.exclude(pk=ticket.pk).annotate(shares_incidence=Exists(of_both))


def more_open(ticket: Ticket) -> str:
    """Return how many other tickets of the company are open, in words; "" for none."""
    theirs = Ticket.objects.filter(company=ticket.company_id, status__in=OPEN)
    count = theirs.exclude(pk=ticket.pk).values("pk")[: MOST_COUNTED + 1].count()
    text = ngettext("%(count)s more open", "%(count)s more open", count)
    return text % {"count": short_count(count)} if count else ""


def linked_by_hand(ticket: Ticket) -> list[int]:
    pairs = related_to(ticket.pk).values_list("first", "second")
    return [one for pair in pairs for one in pair if one != ticket.pk]


def shown_fields(tickets: TicketQuerySet) -> TicketQuerySet:
    return tickets.select_related("type", "agent__user").only(
        "status", "created_at", "type__name", "agent__user__username"
    )


def shares_incidence(ticket: Ticket) -> bool:
    return bool(getattr(ticket, "shares_incidence", False))


def ticket_marks(others: Iterable[OtherTicket]) -> list[TimelineMark]:
    return [
        TimelineMark(
            one.row.created_at,
            "ticket",
            gettext("Ticket %(ticket)s") % {"ticket": one.row.pk},
            str(one.row.type),
            status_label(one.row.status),
            one.row.pk,
        )
        for one in others
        if one.same_shipment
    ]


def mark_mentions(lines: Iterable[Line], user: User) -> None:
    """Set on each note the names that it mentions, and which of them is the viewer's."""
    notes = {
        line.comment_id: line
        for line in lines
        if line.kind == "note" and line.comment_id and "@" in line.text
    }
    if not notes:
        return
    rows = Mention.objects.filter(comment__in=list(notes))
    for comment_id, name, user_id in rows.values_list("comment", "written", "agent__user"):
        notes[comment_id].mentioned[name] = user_id == user.pk


def together_context(ticket: Ticket, user: User, *, may_work: bool) -> dict[str, Any]:
    own = bool(ticket.agent and ticket.agent.user_id == user.pk)
    watching = Watch.objects.filter(ticket=ticket).order_by(ReadingOrder("agent__user__username"))
    names = dict(watching.values_list("agent__user", "agent__user__username"))
    return {
        "watchers": list(names.values()),
        "watching": user.pk in names,
        "may_snooze": may_work and own and ticket.status not in TERMINAL,
        "snooze_days": snooze_days(),
        "company_open": more_open(ticket),
        "company_id": str(ticket.company_id),
        "may_hand_over": (
            may_work and ticket.status not in TERMINAL and may_hand_over(ticket, user)
        ),
    }


def snooze_days() -> list[tuple[str, str]]:
    """Return the days to snooze until, as pairs of ISO date and words."""
    today = timezone.localdate()
    tomorrow = today + timedelta(days=1)
    # The next Friday and Monday after tomorrow.
    ahead = sorted(2 + (weekday - today.weekday() - 2) % 7 for weekday in (4, 0))
    days = [today + timedelta(days=one) for one in ahead]
    offered = [(tomorrow, gettext("Tomorrow")), *((day, weekday_text(day)) for day in days)]
    return [(day.isoformat(), words) for day, words in offered]


def wake_time(text: str) -> datetime | None:
    """Parse the day of the form into its start in the reader's zone; None for "company".

    Raises NotSnoozed.
    """
    if text == "company":
        return None
    try:
        return midnight(date.fromisoformat(text))
    except (ValueError, OverflowError) as error:
        raise NotSnoozed(gettext("Choose a day.")) from error


def warn_of_unknown_names(request: HttpRequest, note: str) -> None:
    """Warn of names after an @ in a note that match no agent or several."""
    unknown = mentions.resolve_mentions(note).unknown
    if unknown:
        names = ", ".join(f"@{name}" for name in unknown)
        messages.warning(
            request,
            gettext("Nobody was notified for %(names)s: no agent, or more than one, is named so.")
            % {"names": names},
        )
