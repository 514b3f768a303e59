"""Contents of a ticket's page: its state, and the box that says how it stands."""

import hashlib
import re
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.translation import gettext

from companies.models import Company
from core.values.ids import LARGEST_ID
from portal.conversation import LONGEST, TOGETHER, beginnings
from tickets.changes.appeals import appeal_until
from tickets.changes.letters import answer_by
from tickets.labels import amount_lines
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
from tickets.models.tickets import parcel_column
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


def read_ticket(company: Company, ticket_id: int) -> Any:
    """Return a ticket for its page, with the `missing` documents. Raises Ticket.DoesNotExist."""
    tickets = with_state(company.tickets.select_related("type").defer("comments", "data"))
    ticket: Any = tickets.annotate(
        beginning=Left("comments", LONGEST + 1),
        tracking_number=parcel_column("tracking_number"),
        parcel_carrier=parcel_column("carrier_name"),
    ).get(pk=ticket_id)
    asked = [] if ticket.status in TERMINAL else ticket.open_requests
    documents = RequestedDocument.objects.filter(pk__in=asked).order_by("pk")
    ticket.missing = list(documents) if asked else []
    return ticket


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


def box_of(ticket: Any) -> dict[str, Any]:
    """Return the contents of the box above the conversation: how the ticket stands, and why."""
    box = {"reason": "", "can_appeal": False}
    if ticket.status in TERMINAL:
        if ticket.reason_code and ticket.reason_code != OTHER:
            box["code"] = ReasonCode.objects.filter(code=ticket.reason_code).first()
        box |= {"reason": reason_of(ticket), "amounts": amount_lines(ticket.amounts)}
    if ticket.status in ACCEPTING:
        return {**box, "colour": "good", "heading": gettext("The ticket was accepted")}
    if ticket.status in TERMINAL:
        declined_at = ticket.decided_at or ticket.updated_at
        appeal = ticket.appeals.filter(declined_at=declined_at).first()
        until = appeal_until(declined_at)
        box |= {"colour": "bad", "heading": gettext("The ticket was declined")}
        can_appeal = appeal is None and timezone.now() <= until
        return {**box, "appeal": appeal, "appeal_until": until, "can_appeal": can_appeal}
    if ticket.status in WAITING_FOR_COMPANY:
        box |= {"colour": "warn", "heading": gettext("We need something from you")}
        return {**box, "reason": reason_of(ticket), "answer_by": answer_by(ticket)}
    is_reopened = ticket.appeal_state == Appeal.State.ACCEPTED
    heading = gettext("We are working on it")
    return {**box, "can_wait": True, "is_reopened": is_reopened, "heading": heading}


def reason_of(ticket: Ticket) -> str:
    """Return the words to the company that came with the decision, else our last ones."""
    ours = beginnings(ticket.conversation.filter(public=True, by=By.AGENT))
    at: datetime | None = ticket.decided_at if ticket.status in TERMINAL else None
    if at is not None:
        ours = ours.filter(created_at__gte=at, created_at__lt=at + TOGETHER).order_by("pk")
    found: Any = ours.first() if at is not None else ours.last()
    return found.beginning[:LONGEST] if found else ""
