"""Contents of a ticket's page: its state, and the box that says how it stands."""

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.translation import gettext

from companies.models import Company
from core.values.ids import LARGEST_ID
from core.values.money import money_text
from core.values.texts import legible
from core.values.zones import moment_text
from portal.conversation import LONGEST, TOGETHER, beginnings
from shipments.models import Shipment
from tickets.changes.appeals import appeal_until
from tickets.changes.letters import answer_by
from tickets.models import (
    Appeal,
    Comment,
    Rating,
    ReasonCode,
    RequestedDocument,
    Ticket,
    TicketFile,
)
from tickets.models.decisions import OTHER
from tickets.statuses import ACCEPTING, TERMINAL, WAITING_FOR_COMPANY, By

# Public facts of a ticket: columns, and what `with_state` adds.
COLUMNS = (
    "status",
    "reason_code",
    "decided_at",
    "amount_claimed",
    "amount_offered",
    "amount_paid",
    "currency",
)
ADDED = ("last_comment", "last_file", "unready", "open_requests", "appeal_state", "stars")
TOKEN = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.[0-9a-f]{16}", re.ASCII)


class Seen(NamedTuple):
    """Last comment and file of the page that a form was on."""

    comment: int
    file: int


def with_state(tickets: QuerySet[Ticket]) -> QuerySet[Ticket]:
    """Add the facts of which `token_of` makes a token; it changes with whatever the page shows."""
    of_ticket = {"ticket": OuterRef("pk")}
    files = TicketFile.objects.filter(**of_ticket, public=True)
    comments = Comment.objects.filter(**of_ticket, public=True)
    requests = RequestedDocument.objects.filter(**of_ticket, fulfilled_at=None)
    return tickets.annotate(
        last_comment=Subquery(comments.order_by("-pk").values("pk")[:1]),
        last_file=Subquery(files.order_by("-pk").values("pk")[:1]),
        unready=Exists(files.filter(thumbnail=None)),
        open_requests=ArraySubquery(requests.order_by("pk").values("pk")),
        appeal_state=Subquery(
            Appeal.objects.filter(**of_ticket).order_by("-pk").values("state")[:1]
        ),
        stars=Subquery(Rating.objects.filter(**of_ticket).values("rating")[:1]),
    )


def read_ticket(company: Company, ticket_id: int) -> Ticket:
    """Return a ticket for its page. Raises Ticket.DoesNotExist."""
    tickets = with_state(company.tickets.select_related("type").defer("comments", "data"))
    return tickets.annotate(beginning=Left("comments", LONGEST + 1)).get(pk=ticket_id)


def read_state(company: Company, ticket_id: int) -> str:
    """Return the token of a ticket's state. Raises Ticket.DoesNotExist."""
    return token_of(with_state(company.tickets.only("company", *COLUMNS)).get(pk=ticket_id))


def token_of(ticket: Any) -> str:
    facts = repr([getattr(ticket, name) for name in (*COLUMNS, *ADDED)])
    digest = hashlib.blake2b(facts.encode(), digest_size=8).hexdigest()
    return f"{ticket.last_comment or 0}.{ticket.last_file or 0}.{digest}"


def read_token(token: str) -> Seen:
    """Return what a page showed; a token that none of our pages carried has seen everything."""
    found = TOKEN.fullmatch(token)
    return Seen(int(found[1]), int(found[2])) if found else Seen(LARGEST_ID, LARGEST_ID)


@dataclass(slots=True)
class Box:
    """Box above the conversation: a request and its deadline, or a decision and its reason."""

    heading: str
    colour: str = ""
    # Words of ours that an agent wrote, and those on an appeal.
    reason: str = ""
    appeal_reason: str = ""
    code: str = ""
    amounts: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    # Ids and names.
    documents: list[tuple[int, str]] = field(default_factory=list)
    can_appeal: bool = False


def box_of(ticket: Any) -> Box:
    if ticket.status in ACCEPTING:
        return decision_box(ticket, Box(gettext("The ticket was accepted"), "good"))
    if ticket.status in TERMINAL:
        box = decision_box(ticket, Box(gettext("The ticket was declined"), "bad"))
        add_appeal(box, ticket)
        return box
    if ticket.status in WAITING_FOR_COMPANY:
        box = Box(gettext("We need something from you"), "warn")
        box.reason = reason_of(ticket)
        box.lines.append(answer_by(ticket))
    else:
        box = Box(gettext("We are working on it"))
        if ticket.appeal_state == Appeal.State.ACCEPTED:
            box.lines.append(gettext("Your appeal was accepted: we look at the ticket again."))
        box.lines.append(gettext("There is nothing that you have to do. You can always write."))
    if ticket.open_requests:
        requests = RequestedDocument.objects.filter(pk__in=ticket.open_requests)
        names = requests.order_by("pk").values_list("pk", "name")
        box.documents = [(pk, legible(name)) for pk, name in names]
    return box


def decision_box(ticket: Ticket, box: Box) -> Box:
    box.reason = reason_of(ticket)
    if ticket.reason_code and ticket.reason_code != OTHER:
        code = ReasonCode.objects.filter(code=ticket.reason_code).first()
        box.code = str(code) if code else ""
    labels = {
        "claimed": gettext("Claimed"),
        "offered": gettext("Offered"),
        "paid": gettext("Paid"),
    }
    currency = ticket.amounts.currency
    box.amounts = [
        (labels[name], money_text(amount, currency))
        for name, amount in ticket.amounts
        if amount is not None
    ]
    return box


def add_appeal(box: Box, ticket: Any) -> None:
    declined_at = ticket.decided_at or ticket.updated_at
    appeal = ticket.appeals.filter(declined_at=declined_at).first()
    zone, until = ticket.company.zone, appeal_until(declined_at)
    if appeal is None:
        box.can_appeal = timezone.now() <= until
        text = gettext("The decision could be appealed until %(time)s.")
        if box.can_appeal:
            text = gettext("If you think that this is wrong, you can appeal once, until %(time)s.")
        box.lines.append(text % {"time": moment_text(until, zone)})
    elif appeal.is_pending:
        text = gettext("Your appeal of %(time)s is with us. There is nothing that you have to do.")
        box.lines.append(text % {"time": moment_text(appeal.created_at, zone)})
    elif appeal.state == Appeal.State.REFUSED:
        box.appeal_reason = legible(appeal.reason[:LONGEST])
        box.lines.append(gettext("The decision stands, and it cannot be appealed again."))


def reason_of(ticket: Ticket) -> str:
    """Return the words to the company that came with the decision, else our last ones."""
    ours = beginnings(ticket.conversation.filter(public=True, by=By.AGENT))
    at: datetime | None = ticket.decided_at if ticket.status in TERMINAL else None
    if at is not None:
        ours = ours.filter(created_at__gte=at, created_at__lt=at + TOGETHER).order_by("pk")
    found: Any = ours.first() if at is not None else ours.last()
    return legible(found.beginning[:LONGEST]) if found else ""


def shipment_of(ticket: Ticket) -> tuple[str, ...]:
    """Return the tracking number and carrier of the company's shipment; empty without one."""
    if ticket.shipment_id is None:
        return ()
    own = Shipment.objects.filter(pk=ticket.shipment_id, company=ticket.company_id)
    names = own.values_list("tracking_number", "carrier_name").first() or ()
    return tuple(map(legible, names))
