"""Strict parser of a line of the shipping platform's feed: decoded JSON in, a fact out. Pure.

docs/operations/feed.md promises the four kinds and their fields. A null means that the field is
left out, and a missing field changes nothing. Every line may have `occurred_at`, the time of the
fact. A line that differs from an earlier one only in `occurred_at` is a new line.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from shipments.feed import fields
from shipments.feed.fields import Order

# Wrong fields that a reason lists, so that it stays readable.
MOST_NAMED = 10

# Stored digests depend on this encoding: if it changes, every earlier line counts as new.
_canonical = json.JSONEncoder(default=str, separators=(",", ":")).encode

Fields = dict[str, Callable[[Any], Any]]


class BadLine(ValueError):
    """The line is rejected; the message has the field and the reason."""


@dataclass(frozen=True)
class ShipmentLine:
    shipment_id: int
    company_id: int
    tracking_number: str
    carrier_name: str
    carrier_id: int | None = None
    order: Order | None = None
    occurred_at: datetime | None = None

    @cached_property
    def digest(self) -> bytes:
        return digest(
            self.tracking_number, self.carrier_name, self.carrier_id, self.order, self.occurred_at
        )


@dataclass(frozen=True)
class TrackingLine:
    shipment_id: int
    status: str
    status_description: str | None = None
    location: str | None = None
    occurred_at: datetime | None = None

    @cached_property
    def digest(self) -> bytes:
        return digest(
            self.status, self.status_description or "", self.location or "", self.occurred_at
        )


@dataclass(frozen=True, slots=True)
class SurchargeLine:
    surcharge_id: int
    shipment_id: int
    surcharge_type: str
    amount: Decimal
    currency: str
    transaction_type: str
    reason: str | None = None
    occurred_at: datetime | None = None


@dataclass(frozen=True)
class IncidenceLine:
    incidence_id: int
    shipment_id: int
    incidence_kind: str | None = None
    description: str | None = None
    open: bool | None = None
    occurred_at: datetime | None = None

    @cached_property
    def digest(self) -> bytes:
        return digest(self.incidence_kind, self.description, self.open, self.occurred_at)


Line = ShipmentLine | TrackingLine | SurchargeLine | IncidenceLine


def parse(document: Any) -> Line:
    """Parse a decoded line. Raises BadLine, whose message lists up to MOST_NAMED wrong fields."""
    if not isinstance(document, dict):
        raise BadLine("the line is not a JSON object")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadLine(f"kind: send one of {', '.join(KINDS)}")
    make, required, readers = KINDS[kind]
    values: dict[str, Any] = {}
    wrong: list[str] = []
    for name, value in document.items():
        if name not in readers:
            wrong.append(f"{ascii(name[:40])[1:-1]}: not a field of {kind}")
        elif value is not None:
            try:
                values[name] = readers[name](value)
            except ValueError as error:
                wrong.append(f"{name}: {error}")
    wrong += [f"{name}: missing" for name in required if document.get(name) is None]
    if wrong:
        raise BadLine("; ".join(wrong[:MOST_NAMED]))
    del values["kind"]
    return make(**values)


def digest(*words: Any) -> bytes:
    """Return a 16-byte digest of a line's values, independent of the formatting of its JSON."""
    return hashlib.blake2b(_canonical(words).encode(), digest_size=16).digest()


class LineKind(NamedTuple):
    make: Callable[..., Line]
    required: tuple[str, ...]
    readers: Fields


def line_kind(make: Callable[..., Line], required: Fields, optional: Fields) -> LineKind:
    return LineKind(make, tuple(required), {"kind": str, **required, **optional})


KINDS = {
    "shipment": line_kind(
        ShipmentLine,
        {
            "shipment_id": fields.identifier,
            "company_id": fields.identifier,
            "tracking_number": fields.text_field(100),
            "carrier_name": fields.text_field(100),
        },
        {
            "carrier_id": fields.identifier,
            "order": fields.order,
            "occurred_at": fields.instant_field,
        },
    ),
    "tracking": line_kind(
        TrackingLine,
        {"shipment_id": fields.identifier, "status": fields.status},
        {
            "status_description": fields.text_field(500, blank=True),
            "location": fields.text_field(300, blank=True),
            "occurred_at": fields.instant_field,
        },
    ),
    "surcharge": line_kind(
        SurchargeLine,
        {
            "surcharge_id": fields.identifier,
            "shipment_id": fields.identifier,
            "surcharge_type": fields.text_field(100),
            "amount": fields.amount,
            "currency": fields.currency,
            "transaction_type": fields.transaction,
        },
        {"reason": fields.text_field(500, blank=True), "occurred_at": fields.instant_field},
    ),
    "incidence": line_kind(
        IncidenceLine,
        {"incidence_id": fields.identifier, "shipment_id": fields.identifier},
        {
            "incidence_kind": fields.text_field(50, blank=True),
            "description": fields.text_field(500, blank=True),
            "open": fields.flag,
            "occurred_at": fields.instant_field,
        },
    ),
}
