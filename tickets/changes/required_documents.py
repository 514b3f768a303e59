"""Which documents a ticket needs before it can be decided, and which of them have come."""

from typing import NamedTuple

from django.db.models import F, Q

from shipments.carriers import carrier_key
from tickets.models import RequiredDocument, Ticket


class Needed(NamedTuple):
    """A required document: it has come, it was asked for and is waited for, or it is missing."""

    name: str
    has_come: bool
    is_waited_for: bool

    @property
    def is_missing(self) -> bool:
        return not self.has_come and not self.is_waited_for


def required_of(ticket: Ticket) -> list[Needed]:
    """What is required of tickets of its type and carrier, the general ones first.

    One has come when a file names it, or a document of the company that has a value.
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
    come: set[str] = set()
    waited: set[str] = set()
    for asked in ticket.requested_documents.all():
        (waited if asked.fulfilled_at is None else come).add(asked.name.casefold())
    for field, title in ticket.documents.exclude(value=None).values_list("field_id", "key"):
        come |= {field.casefold(), (title or "").casefold()}
    return [
        Needed(name, folded in come and folded not in waited, folded in waited)
        for folded, name in names.items()
    ]
