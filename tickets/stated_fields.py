"""What a company may state of a ticket in a word or a number: a row for each such column.

From a row follow the body that opens a ticket, the ticket's row in the API with its shape and its
sample, event 6, the bounds and the erasing of texts, the ticket's page and the last columns of the
export. Pure: the column itself, which is null where nothing was stated, stands in
`tickets/models/tickets.py`.
"""

from dataclasses import dataclass
from typing import Any

from core.values.texts import gettext_noop


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedField:
    """A column of a ticket that its company states. It is an id, a text, or one of the choices."""

    # Of the column, and in the API.
    name: str
    # At the desk; marked with `gettext_noop`.
    label: str
    # For those who call the API.
    about: str = ""
    # Of a text, in characters; without one, and without choices, it is an id.
    longest: int | None = None
    choices: tuple[str, ...] = ()
    # Event 6 tells it. Rows that do go to the end: the order of members is part of the payload.
    in_events: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the company's own words are in it."""
        return self.longest is not None

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its value."""
        kind = "string" if self.is_text or self.choices else "integer"
        described: dict[str, Any] = {"type": [kind, "null"]}
        described |= {"enum": [*self.choices, None]} if self.choices else {}
        return described | ({"description": self.about} if self.about else {})


# The last columns of the export in this order: new rows go to the end.
STATED_FIELDS = (
    StatedField(name="carrier_id", label=gettext_noop("Carrier ID")),
    StatedField(name="credit_id", label=gettext_noop("Credit ID")),
    StatedField(name="warehouse_package_id", label=gettext_noop("Package"), longest=255),
)
STATED_TEXTS = tuple(field.name for field in STATED_FIELDS if field.is_text)


def stated_values(ticket: Any, *, in_events: bool = False) -> dict[str, Any]:
    """Return what a ticket's company has stated; with `in_events`, what event 6 tells of it."""
    return {
        field.name: getattr(ticket, field.name)
        for field in STATED_FIELDS
        if field.in_events or not in_events
    }
