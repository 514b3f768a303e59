"""Tickets and the known problems they are about: whichever comes later links (decision T19).

Both writers hold the shipment (`shipments.locks`), so neither can miss the other. A decided
ticket is linked too: which of the two came first must make no difference, and a lead who is
asked to reopen it should see the incidence.
"""

from collections.abc import Iterable

from django.utils import timezone

from shipments.models import Incidence
from tickets.models import IncidenceLink, Ticket


def link_incidences(ticket: Ticket) -> None:
    """Link a new ticket to every open incidence of its company's shipment that matches."""
    if ticket.shipment_id is None:
        return
    incidences = Incidence.objects.filter(
        shipment=ticket.shipment_id,
        shipment__company=ticket.company_id,
        open=True,
        kind__in=["", ticket.type.name],
    )
    link((ticket.pk, incidence) for incidence in incidences.values_list("pk", flat=True))


def link_tickets(incidence: Incidence) -> None:
    """Link an incidence, if it is open, to every ticket of its shipment that matches.

    `settings.INCIDENCE_RECORDED` names this function: shipments call it with a saved incidence,
    in the transaction that holds the shipment.
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
