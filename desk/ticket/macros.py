"""Prepared answers, filled in for a ticket."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q

from desk.common.forms import document_names
from desk.models import PLACEHOLDERS, Macro
from shipments.models import Shipment
from tickets.models import Ticket
from tickets.statuses import TERMINAL

PLACEHOLDER = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")


class Filled(NamedTuple):
    """A macro as the page's script gets it."""

    id: int
    name: str
    text: str
    public: bool
    move_to: int | None
    requested: list[str]
    # Reason code of the decision; "" if the agent chooses.
    code: str

    @property
    def decides(self) -> bool:
        return self.move_to in TERMINAL


def macros_for(ticket: Ticket) -> list[Macro]:
    """Return the active macros for the ticket's type by name; replies in the company's language."""
    language = Q(public=False) | Q(language__in=("", ticket.company.written_language))
    fitting = Macro.objects.filter(language, Q(types=None) | Q(types=ticket.type_id), active=True)
    return list(fitting.select_related("reason_code").distinct())


def fill_macro(macro: Macro, values: Mapping[str, str]) -> Filled:
    return Filled(
        macro.pk,
        macro.name,
        fill_placeholders(macro.text, values),
        macro.public,
        macro.move_to,
        document_names(macro.requested),
        macro.reason_code.code if macro.reason_code else "",
    )


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """Replace the known placeholders; other braces, and braces in the values, stay."""
    return PLACEHOLDER.sub(lambda match: values.get(match[1], ""), text)


def values_for(ticket: Ticket, shipment: Shipment | None, user: User) -> dict[str, str]:
    return {
        "ticket": str(ticket.pk),
        "company": ticket.company.name,
        "tracking": shipment.tracking_number if shipment else "",
        "agent": user.first_name or user.get_username(),
    }


def usual_documents(macros: Iterable[Macro]) -> list[str]:
    """Return the documents that these macros request, without duplicates, in their order."""
    return list(dict.fromkeys(name for macro in macros for name in document_names(macro.requested)))
