"""A company opens a ticket, or an agent for it: one transaction from the check to the agent."""

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
from tickets.changes.files import NewFile
from tickets.changes.history import record_history
from tickets.changes.news import tell_news, telling
from tickets.changes.text_bounds import count_opening
from tickets.history_codes import Kind, Rule
from tickets.incidences import link_incidences
from tickets.models import Agent, CallerTicket, Document, Ticket, TicketType
from tickets.sla.due_dates import set_for_new_ticket


class InvalidTicket(ValueError):
    """The ticket does not meet the requirements of its type; `field` is the wrong one."""

    def __init__(self, field: str, message: str, *, code: str) -> None:
        super().__init__(message)
        self.field = field
        self.code = code


class TicketExists(Exception):
    """An existing ticket blocks this one."""

    def __init__(self, ticket_id: int) -> None:
        super().__init__(gettext("A ticket has already been created for this shipment."))
        self.ticket_id = ticket_id


@telling
def open_ticket(
    company: Company,
    actor: Actor,
    *,
    type_id: int,
    documents: Sequence[Mapping[str, Any]] = (),
    agent: Agent | None = None,
    **fields: Any,
) -> Ticket:
    """Open a ticket of `fields` of the model: comments, data and the ids it is about.

    Sets its due dates, writes its history, links incidences, and assigns it to `agent`, or where
    none is named automatically. Raises InvalidTicket, TicketExists and TextRefused.
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
    link_incidences(ticket)
    tell_news()
    if agent is None:
        assign(ticket)
    else:
        assign_taken(ticket, agent, actor, Rule.CALLER)
    return ticket


@transaction.atomic
def open_for_caller(
    company: Company,
    *,
    user: User,
    key: UUID,
    mine: bool,
    files: Sequence[NewFile] = (),
    **given: Any,
) -> Ticket:
    """Open a ticket for a company that has called, as `open_ticket` does with what is `given`.

    History says who opened it. It is the agent's own, where that is wished and they are an agent.
    The company sees the `files`. A form of this `key` is taken once: the second time it answers
    the ticket of the first. Raises NotAllowed, InvalidTicket, TicketExists and FileRefused.
    """
    actor = actor_for(user)
    if not user.has_perm("tickets.add_ticket"):
        raise NotAllowed(
            gettext("%(user)s is not allowed to open tickets.") % {"user": user.get_username()}
        )
    # Of two that come at once the second waits here for the first.
    CallerTicket.objects.bulk_create([CallerTicket(key=key)], ignore_conflicts=True)
    form = CallerTicket.objects.select_related("ticket").get(key=key)
    if form.ticket is not None:
        return form.ticket
    agent = Agent.objects.filter(user=user).select_related("user").first() if mine else None
    form.ticket = open_ticket(company, actor, agent=agent, **given)
    attach_agent_files(form.ticket, actor, files, public=True)
    form.save(update_fields=["ticket"])
    return form.ticket


def find_type(type_id: int, given: Mapping[str, Any]) -> TicketType:
    """The type, if it takes a ticket of what is given. Raises InvalidTicket (T13, T14, N27)."""
    rows = TYPE.ask(type_id=type_id)
    if not rows:
        raise InvalidTicket(
            "type_id",
            gettext("There is no ticket type %(type)d; GET /tickets/types lists them.")
            % {"type": type_id},
            code="unknown_ticket_type",
        )
    found = from_row(TicketType, rows[0])
    if not found.active:
        raise InvalidTicket(
            "type_id",
            gettext("Ticket type %(type)d is no longer offered.") % {"type": type_id},
            code="ticket_type_retired",
        )
    if field := rules.missing_field(found.reference, found.reference_required, given):
        text = gettext('Required for tickets of type "%(type)s".')
        raise InvalidTicket(field, text % {"type": found.name}, code="required")
    return found


def refuse_duplicate(company: Company, type_id: int, shipment_id: int) -> None:
    # Two simultaneous requests must not both find nothing. No unique index: an Incomplete ticket
    # does not block, and may yet come back beside the second one (decision T11).
    hold_shipment(company.pk, shipment_id)
    in_the_way = BLOCKING.ask(company=company.pk, type_id=type_id, shipment=shipment_id)
    if in_the_way:
        raise TicketExists(min(in_the_way)[0])


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
