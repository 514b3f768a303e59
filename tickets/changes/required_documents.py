"""Documents that a ticket needs before its decision, and which of them have arrived."""

from typing import NamedTuple

from django.db.models import F, Q

from shipments.carriers import carrier_key
from tickets.models import RequiredDocument, Ticket


class Needed(NamedTuple):
    """Required document: it has arrived, is awaited after a request, or is missing."""

    name: str
    has_come: bool
    is_waited_for: bool

    @property
    def is_missing(self) -> bool:
        return not self.has_come and not self.is_waited_for


def required_of(ticket: Ticket) -> list[Needed]:
    """Return the documents required for the ticket's type and carrier, the general ones first.

    One has arrived if a file fulfils it, or the company's document of that name has a value.
    """
    fitting = RequiredDocument.objects.filter(Q(type=None) | Q(type=ticket.type_id))
    wanted = fitting.order_by(F("type").asc(nulls_first=True), "carrier_name", "pk")
    key = carrier_key(ticket.carrier_name)
    names = {
        one.name.casefold(): one.name
        for one in wanted
        if not one.carrier_name or carrier_key(one.carrier_name) == key
    }
    if not names:
        return []
    fulfilled: set[str] = set()
    pending: set[str] = set()
    for request in ticket.requested_documents.all():
        (pending if request.fulfilled_at is None else fulfilled).add(request.name.casefold())
    for field, title in ticket.documents.exclude(value=None).values_list("field_id", "key"):
        fulfilled |= {field.casefold(), (title or "").casefold()}
    return [
        Needed(name, folded in fulfilled and folded not in pending, folded in pending)
        for folded, name in names.items()
    ]
