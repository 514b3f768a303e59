"""Opening of tickets by companies and agents, in one transaction with the assignment."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from companies.models import Company
from core.data.compiled_queries import CompiledQuery, Slot, column_names, from_row, insert_row
from shipments.locks import hold_shipment
from tickets import rules
from tickets.assignment.automatic import assign
from tickets.assignment.taking import assign_taken
from tickets.changes.actors import Actor, NotAllowed, actor_for
from tickets.changes.agent_files import attach_agent_files
from tickets.changes.files import NewFile, attach_held, keep_file, refuse_more
from tickets.changes.history import record_history
from tickets.changes.news import publish_news, ticket_service
from tickets.changes.text_bounds import count_opening
from tickets.history_codes import Kind, Rule
from tickets.incidences import link_incidences
from tickets.models import Agent, CallerTicket, Document, Ticket, TicketType
from tickets.sla.due_dates import set_for_new_ticket
from tickets.statuses import By


class InvalidTicket(ValueError):
    """Ticket that does not meet the requirements of its type; `field` is the invalid one."""

    def __init__(self, field: str, message: str, *, code: str) -> None:
        super().__init__(message)
        self.field = field
        self.code = code


class TicketExists(Exception):
    """Refusal of a ticket that an existing one blocks."""

    def __init__(self, ticket_id: int) -> None:
        super().__init__(gettext("A ticket has already been created for this shipment."))
        self.ticket_id = ticket_id


@ticket_service
def open_ticket(
    company: Company,
    actor: Actor,
    *,
    type_id: int,
    documents: Sequence[Mapping[str, Any]] = (),
    files: Sequence[NewFile] = (),
    agent: Agent | None = None,
    **fields: Any,
) -> Ticket:
    """Open a ticket; `fields` are fields of the model: comments, data and the ids it is about.

    Sets its due dates, writes its history, attaches `files`, which the company sees, links
    incidences, and assigns it to `agent`, or automatically if there is none. Raises InvalidTicket,
    TicketExists, TextRefused and FileRefused.
    """
    ticket_type = find_type(type_id, {**fields, "documents": documents})
    if (shipment_id := fields.get("shipment_id")) is not None:
        refuse_duplicate(company, type_id, shipment_id)
    count_opening(company, actor, fields, documents)
    now = timezone.now()
    ticket = Ticket(company=company, type=ticket_type, created_at=now, updated_at=now, **fields)
    set_for_new_ticket(ticket)
    insert_row(ticket)
    if documents:
        Document.objects.bulk_create(
            Document(ticket=ticket, position=position, **document)
            for position, document in enumerate(documents)
        )
    record_history(ticket, actor, Kind.OPENED)
    # After the assignment, the agent would be notified of an answer too.
    attach_new_files(ticket, actor, files)
    link_incidences(ticket)
    publish_news()
    if agent is None:
        assign(ticket)
    else:
        assign_taken(ticket, agent, actor, Rule.CALLER)
    return ticket


def attach_new_files(ticket: Ticket, actor: Actor, files: Sequence[NewFile]) -> None:
    if actor.by != By.COMPANY:
        attach_agent_files(ticket, actor, files, public=True)
    elif files:
        refuse_more(ticket, len(files))
        attach_held(ticket, actor, [keep_file(ticket.company, one) for one in files], None)


@transaction.atomic
def open_once(company: Company, actor: Actor, *, key: UUID, **options: Any) -> Ticket:
    """Open a ticket by a form of a page; `options` are those of `open_ticket`, which see.

    `key` is an idempotency key: a repeated form returns the first ticket.
    """
    # The second of two simultaneous requests waits here for the first.
    CallerTicket.objects.bulk_create([CallerTicket(key=key)], ignore_conflicts=True)
    form = CallerTicket.objects.select_related("ticket").get(key=key)
    if form.ticket is None:
        form.ticket = open_ticket(company, actor, **options)
        form.save(update_fields=["ticket"])
    return form.ticket


def open_for_caller(
    company: Company, *, user: User, key: UUID, mine: bool, **options: Any
) -> Ticket:
    """Open a ticket for a company that has called, by `open_once`.

    History has the user who opened it. With `mine` it is assigned to the user, if they are an
    agent. Raises NotAllowed too.
    """
    actor = actor_for(user)
    if not user.has_perm("tickets.add_ticket"):
        raise NotAllowed(
            gettext("%(user)s is not allowed to open tickets.") % {"user": user.get_username()}
        )
    agent = Agent.objects.filter(user=user).select_related("user").first() if mine else None
    return open_once(company, actor, key=key, agent=agent, **options)


def find_type(type_id: int, fields: Mapping[str, Any]) -> TicketType:
    """Return the type if it takes these fields (T13, T14, N27). Raises InvalidTicket."""
    rows = TYPE.fetch(type_id=type_id)
    if not rows:
        raise InvalidTicket(
            "type_id",
            gettext("There is no ticket type %(type)d; GET /tickets/types lists them.")
            % {"type": type_id},
            code="unknown_ticket_type",
        )
    ticket_type = from_row(TicketType, rows[0])
    if not ticket_type.active:
        raise InvalidTicket(
            "type_id",
            gettext("Ticket type %(type)d is no longer offered.") % {"type": type_id},
            code="ticket_type_retired",
        )
    if field := rules.missing_field(ticket_type.reference, ticket_type.reference_required, fields):
        text = gettext('Required for tickets of type "%(type)s".')
        raise InvalidTicket(field, text % {"type": ticket_type.name}, code="required")
    return ticket_type


def refuse_duplicate(company: Company, type_id: int, shipment_id: int) -> None:
    # Without the lock, two simultaneous requests could both find nothing. A unique index cannot do
    # this: an Incomplete ticket does not block, and may return after a second was opened (T11).
    hold_shipment(company.pk, shipment_id)
    blocking = BLOCKING.fetch(company=company.pk, type_id=type_id, shipment=shipment_id)
    if blocking:
        raise TicketExists(min(blocking)[0])


def type_query(type_id: Slot) -> QuerySet[TicketType, tuple[Any, ...]]:
    return TicketType.objects.filter(pk=type_id).order_by().values_list(*column_names(TicketType))


def blocking_query(
    company: Slot, type_id: Slot, shipment: Slot
) -> QuerySet[Ticket, tuple[Any, ...]]:
    return Ticket.objects.blocking(type_id, shipment).filter(company=company).values_list("pk")


TYPE = CompiledQuery(type_query, type_id="{}::bigint")
BLOCKING = CompiledQuery(
    blocking_query, company="{}::bigint", type_id="{}::bigint", shipment="{}::bigint"
)
