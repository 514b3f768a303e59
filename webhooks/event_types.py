"""Event types and their registry. Pure.

An app defines and registers its types in a module `event_types`, or in a folder of that name.
Django imports these modules when it starts (webhooks/apps.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Payload = dict[str, Any]
Schema = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class EventType(ABC):
    """A kind of event that webhooks are registered for.

    Subclasses add what their app needs to build an event's payload.
    """

    # Stored in webhooks and events: never change or reuse it.
    id: int
    # Part of the signed text, and the value of X-Webhook-Event.
    name: str
    # True if deliveries carry a signature and the other X-Webhook-* headers.
    signed: bool
    # Shown to companies by GET /webhook-types.
    description: str
    # JSON Schema of the payload, for OpenAPI.
    schema: Schema
    # OpenAPI tag: one of TAGS in config/description.py.
    tag: str = "Webhooks"

    @abstractmethod
    def sample(self, company_id: int, tracking_number: str, now: datetime) -> Payload:
        """Return the payload of a test delivery, from the company's data or else invented."""


class DuplicateEventType(ValueError):
    """The id, the name or the default is already taken."""


class Registry:
    """Event types by id. Iterating yields them in the order of their ids."""

    def __init__(self) -> None:
        self._types: dict[int, EventType] = {}
        self._default: EventType | None = None

    def register(self, event_type: EventType, *, default: bool = False) -> None:
        """Add a type; `default` makes it the type of webhooks registered without one.

        Raises DuplicateEventType without changing anything.
        """
        for other in self:
            if other.id == event_type.id:
                raise DuplicateEventType(
                    f"{event_type.name} cannot have id {event_type.id}: {other.name} has it."
                )
            if other.name == event_type.name:
                raise DuplicateEventType(
                    f"Event types {other.id} and {event_type.id} are both named {other.name}."
                )
        if default:
            if self._default is not None:
                raise DuplicateEventType(
                    f"{event_type.name} cannot be the default: {self._default.name} is."
                )
            self._default = event_type
        self._types[event_type.id] = event_type
        self._types = dict(sorted(self._types.items()))

    def unregister(self, event_type: EventType) -> None:
        """Remove a type; for tests. Raises KeyError."""
        del self._types[event_type.id]
        if self._default is event_type:
            self._default = None

    @property
    def default(self) -> EventType:
        """The type of a webhook registered without one. Raises LookupError if there is none."""
        if self._default is None:
            raise LookupError("No event type is registered as the default.")
        return self._default

    def get(self, type_id: int) -> EventType | None:
        """Return the type with this id, or None."""
        return self._types.get(type_id)

    def name(self, type_id: int) -> str:
        """Return the type's name, or for example "event 9" if no app registers the stored id."""
        event_type = self._types.get(type_id)
        return event_type.name if event_type else f"event {type_id}"

    def __contains__(self, type_id: int) -> bool:
        return type_id in self._types

    def __iter__(self) -> Iterator[EventType]:
        return iter(self._types.values())


registry = Registry()
