"""The shipping platform, played by a company in the test environment (decision N15).

Played facts are recorded as `ingest` records the feed's lines, with the same events.
"""

import secrets
from typing import Any, NamedTuple

from companies.models import Company
from shipments.feed import recording
from shipments.feed.parsing import KINDS
from shipments.models import Incidence, Shipment, Surcharge

# Far above the platform's ids, and still exact as numbers in JavaScript.
FIRST_ID, IDS = 10**12, 10**12
CARRIER = "sample"
# Field and model of a kind's own ids.
OWN_IDS: dict[str, tuple[str, type[Surcharge | Incidence]]] = {
    "surcharge": ("surcharge_id", Surcharge),
    "incidence": ("incidence_id", Incidence),
}


class IdTaken(Exception):
    """Something else has this id; the message does not disclose its owner."""


class Played(NamedTuple):
    """Effect of a played event: its own id, whether it changed anything, and its events."""

    id: int | None
    changed: bool
    events: int


def play_shipment(company: Company, values: dict[str, Any]) -> Shipment:
    """Create or update a shipment of the company. Raises IdTaken."""
    shipment_id = values.get("shipment_id") or free_id(Shipment, "pk")
    defaults = {"tracking_number": f"TEST{shipment_id}", "carrier_name": CARRIER}
    ids = {"shipment_id": shipment_id, "company_id": company.pk}
    record_line("shipment", {**defaults, **values, **ids})
    return company.shipments.get(pk=shipment_id)


def play_event(company: Company, shipment_id: int, kind: str, values: dict[str, Any]) -> Played:
    """Record an event of the company's shipment.

    Raises Shipment.DoesNotExist and IdTaken.
    """
    company.shipments.only("pk").get(pk=shipment_id)
    own_id = None
    if kind in OWN_IDS:
        name, model = OWN_IDS[kind]
        own_id = values.get(name) or free_id(model, name if kind == "surcharge" else "pk")
        values = {**values, name: own_id}
    outcome = record_line(kind, {**values, "shipment_id": shipment_id})
    return Played(own_id, outcome.changed > 0, outcome.events)


def record_line(kind: str, values: dict[str, Any]) -> recording.BatchOutcome:
    """Record one line of the feed. Raises IdTaken, the only fault left once fields are checked."""
    outcome = recording.record_facts([KINDS[kind].make(**values)])
    if outcome.bad:
        raise IdTaken(f"This id belongs to another {kind}, or to the same with other content.")
    return outcome


def free_id(model: type[Shipment | Surcharge | Incidence], field: str) -> int:
    while True:
        candidate = FIRST_ID + secrets.randbelow(IDS)
        if not model._default_manager.filter(**{field: candidate}).exists():
            return candidate
