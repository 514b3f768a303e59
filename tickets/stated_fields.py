"""Optional columns of a ticket whose values its company states: a row for each.

A row determines the body that opens a ticket, the ticket's row in the API with its shape and its
sample, event 6, the bounds and the erasing of texts, the ticket's page and the last columns of the
export. Pure: `tickets/models/tickets.py` defines the column itself, which is null if the company
stated nothing.
"""

from dataclasses import dataclass
from typing import Any

from core.values.texts import gettext_noop


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedField:
    """Column of a ticket that its company states: an id, a text, or one of the choices."""

    # Name of the column and of the field in the API.
    name: str
    # Label at the desk, marked with `gettext_noop`.
    label: str
    # Description in the API.
    about: str = ""
    # Maximum length in characters. A field with neither a length nor choices is an id.
    longest: int | None = None
    # Codes, as in the API, and their labels at the desk, marked with `gettext_noop`.
    choices: tuple[tuple[str, str], ...] = ()
    # Part of event 6. Such rows go to the end: the order of members is part of the payload.
    in_events: bool = False

    @property
    def is_text(self) -> bool:
        """Free text in the company's own words."""
        return self.longest is not None

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(code for code, _ in self.choices)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its value."""
        kind = "string" if self.is_text or self.choices else "integer"
        schema: dict[str, Any] = {"type": [kind, "null"]}
        schema |= {"enum": [*self.codes, None]} if self.choices else {}
        return schema | ({"description": self.about} if self.about else {})


# The last columns of the export have this order, so new rows go to the end.
STATED_FIELDS = (
    StatedField(name="carrier_id", label=gettext_noop("Carrier ID")),
    StatedField(name="credit_id", label=gettext_noop("Credit ID")),
    StatedField(name="warehouse_package_id", label=gettext_noop("Package"), longest=255),
)
STATED_TEXTS = tuple(field.name for field in STATED_FIELDS if field.is_text)


def stated_values(ticket: Any, *, in_events: bool = False) -> dict[str, Any]:
    """Return the values that a ticket's company stated; with `in_events`, those in event 6."""
    return {
        field.name: getattr(ticket, field.name)
        for field in STATED_FIELDS
        if field.in_events or not in_events
    }
