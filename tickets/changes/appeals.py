"""Appeals: a company may request once that a lead reviews a decision (decision N14)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext

from companies.models import Company
from tickets.changes.actors import SANDBOX, Actor, leads
from tickets.changes.documents import fulfil
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.text_bounds import count_text, document_texts
from tickets.changes.writes import MoveRefused, add_comment, save_change
from tickets.history_codes import Kind
from tickets.labels import status_label
from tickets.models import Appeal, Document, HistoryEntry, Ticket
from tickets.statuses import By, Status


class AppealRefused(Exception):
    """Refusal of an appeal; `code` is the reason for programs."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class NoAppeal(Exception):
    """Error for a ticket without a pending appeal."""


class OwnDecision(MoveRefused):
    """Refusal of a lead who made the decision; if `alone`, they may confirm and decide."""

    def __init__(self, message: str, *, alone: bool) -> None:
        super().__init__(message)
        self.alone = alone


@ticket_service
def appeal_decision(
    company: Company,
    ticket_id: int,
    actor: Actor,
    text: str,
    documents: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Store a company's appeal, with its text as a comment and its documents on the ticket.

    The ticket stays Declined until a lead decides. Raises Ticket.DoesNotExist, AppealRefused and
    TextRefused.
    """
    ticket = company.tickets.hold(ticket_id)
    # An imported ticket may lack the time of its decision.
    ticket.decided_at = declined_at = ticket.decided_at or ticket.updated_at
    check_appeal(ticket, declined_at)
    # The text is stored twice: in the appeal and as a comment.
    count_text(company, text, text, *document_texts(documents))
    add_documents(ticket, actor, documents)
    record_history(ticket, actor, Kind.APPEALED)
    Appeal.objects.create(
        ticket=ticket, declined_at=declined_at, comment=text, created_at=timezone.now()
    )
    add_comment(ticket, actor, text)
    save_change(ticket, "decided_at")


def check_appeal(ticket: Ticket, declined_at: datetime) -> None:
    if ticket.status != Status.DECLINED:
        raise AppealRefused(
            gettext("Only a Declined ticket can be appealed. This one is %(status)s.")
            % {"status": status_label(ticket.status)},
            code="not_declined",
        )
    earlier = ticket.appeals.filter(declined_at=declined_at).first()
    if earlier and earlier.state == Appeal.State.REFUSED:
        raise AppealRefused(
            gettext("The appeal of this decision was refused. It cannot be repeated."),
            code="appeal_refused",
        )
    if earlier:
        raise AppealRefused(
            gettext("This decision has already been appealed."), code="already_appealed"
        )
    until = appeal_until(declined_at)
    if timezone.now() > until:
        raise AppealRefused(
            gettext("This decision could be appealed until %(time)s.")
            % {"time": f"{until:%Y-%m-%d %H:%M} UTC"},
            code="appeal_too_late",
        )


def appeal_until(declined_at: datetime) -> datetime:
    """Return the time until which a decision can be appealed."""
    return declined_at + timedelta(days=settings.APPEAL_DAYS)


def add_documents(ticket: Ticket, actor: Actor, documents: Sequence[Mapping[str, Any]]) -> None:
    """Append documents to a ticket, and fulfil the requested documents of the same names."""
    count = ticket.documents.count()
    Document.objects.bulk_create(
        Document(ticket=ticket, position=position, **document)
        for position, document in enumerate(documents, start=count)
    )
    names = {document.get(field) for document in documents for field in ("field_id", "key")}
    for requested in ticket.requested_documents.filter(name__in=names, fulfilled_at=None):
        fulfil(ticket, requested, actor)


def latest_appeal(ticket: Ticket, history: Iterable[HistoryEntry]) -> Appeal | None:
    """Return a ticket's latest appeal, without a query if it was never Declined."""
    if Status.DECLINED in {ticket.status, *(entry.now for entry in history)}:
        return ticket.appeals.order_by("-pk").first()
    return None


def pending_appeal(ticket: Ticket) -> Appeal:
    """Return the appeal that a lead has to decide. Raises NoAppeal."""
    appeal = ticket.appeals.filter(state=Appeal.State.PENDING).first()
    if appeal is None:
        raise NoAppeal(
            gettext("Ticket %(ticket)s has no appeal to decide.") % {"ticket": ticket.pk}
        )
    return appeal


def declined_by(ticket: Ticket, actor: Actor) -> bool:
    """Return whether the actor made the latest decision to decline the ticket."""
    last = ticket.history.moves().filter(now=Status.DECLINED).last()
    return last is not None and last.by in (By.AGENT, By.LEAD) and last.actor == actor.name


def refuse_own_decision(ticket: Ticket, actor: Actor, *, alone: bool = False) -> None:
    """Raise OwnDecision for a lead who declined the ticket themselves (decision N14).

    The only lead may decide if they confirm with `alone`, which history records.
    """
    if actor == SANDBOX or not declined_by(ticket, actor):
        return
    if leads().exclude(username=actor.name).exists():
        text = gettext("You declined this ticket. Another lead decides its appeal.")
        raise OwnDecision(text, alone=False)
    if not alone:
        text = gettext("You declined this ticket, and there is no other lead.")
        raise OwnDecision(text, alone=True)


def accept_pending(ticket: Ticket, actor: Actor) -> Appeal | None:
    """Accept the pending appeal of a reopened ticket, and return it; None if it has none.

    Raises OwnDecision if another lead has to decide.
    """
    appeal = ticket.appeals.filter(state=Appeal.State.PENDING).first()
    if appeal is not None:
        refuse_own_decision(ticket, actor, alone=True)
        end_appeal(appeal, ticket, actor, Appeal.State.ACCEPTED)
    return appeal


def refuse_pending(ticket: Ticket, actor: Actor, reason: str) -> Appeal:
    """Refuse the appeal of a locked ticket; the company reads the reason. Raises NoAppeal."""
    appeal = pending_appeal(ticket)
    end_appeal(appeal, ticket, actor, Appeal.State.REFUSED, reason)
    add_comment(ticket, actor, reason)
    return appeal


def end_appeal(
    appeal: Appeal, ticket: Ticket, actor: Actor, state: Appeal.State, reason: str = ""
) -> None:
    appeal.state, appeal.reason, appeal.decided_at = state, reason, timezone.now()
    appeal.save(update_fields=["state", "reason", "decided_at"])
    data: dict[str, Any] = {"outcome": state.value}
    if actor != SANDBOX and declined_by(ticket, actor):
        data["own"] = True
    record_history(ticket, actor, Kind.APPEAL_DECIDED, reason=reason, data=data)
    save_change(ticket)
