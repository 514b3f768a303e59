"""Links between tickets and incidences, made by whichever comes later (decision T19).

Both writers lock the shipment (`shipments.locks`), so neither can miss the other. Decided tickets
are linked too: the order of arrival must make no difference, and a lead who is asked to reopen a
ticket should see the incidence.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from core.data.compiled_queries import CompiledQuery, Slot
from shipments.models import Incidence
from tickets.models import IncidenceLink, Ticket


def link_incidences(ticket: Ticket) -> None:
    """Link a new ticket to every open incidence of its company's shipment that matches."""
    if ticket.shipment_id is None:
        return
    rows = MATCHING.fetch(
        shipment=ticket.shipment_id, company=ticket.company_id, kind=ticket.type.name
    )
    if rows:
        link((ticket.pk, incidence) for (incidence,) in rows)


def matching_query(
    shipment: Slot, company: Slot, kind: Slot
) -> QuerySet[Incidence, tuple[Any, ...]]:
    incidences = Incidence.objects.filter(shipment=shipment, shipment__company=company, open=True)
    return incidences.filter(Q(kind="") | Q(kind=kind)).values_list("pk")


MATCHING = CompiledQuery(
    matching_query, shipment="{}::bigint", company="{}::bigint", kind="{}::text"
)


def link_tickets(incidence: Incidence) -> None:
    """Link an open incidence to every matching ticket of its shipment; ignore a closed one.

    `settings.INCIDENCE_RECORDED` names this function: shipments call it with a saved incidence,
    in the transaction that locks the shipment.
    """
    if not incidence.open:
        return
    tickets = Ticket.objects.filter(
        company=incidence.shipment.company_id, shipment_id=incidence.shipment_id
    )
    if incidence.kind:
        tickets = tickets.filter(type__name=incidence.kind)
    link((ticket, incidence.pk) for ticket in tickets.values_list("pk", flat=True))


def link(pairs: Iterable[tuple[int, int]]) -> None:
    now = timezone.now()
    IncidenceLink.objects.bulk_create(
        [
            IncidenceLink(ticket_id=ticket, incidence_id=incidence, created_at=now)
            for ticket, incidence in pairs
        ],
        ignore_conflicts=True,
    )
