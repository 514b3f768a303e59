"""The shipping platform, played by a company in the test environment (decision N15).

What it plays is recorded as `ingest` records the feed's lines, with the same events.
"""

import secrets
from typing import Any, NamedTuple

from companies.models import Company
from shipments.feed import recording
from shipments.feed.parsing import KINDS
from shipments.models import Incidence, Shipment, Surcharge

# Far above the ids that the platform gives, and still exact as a number in JavaScript.
FIRST_ID, IDS = 10**12, 10**12
CARRIER = "sample"
# The field of a kind's own id, and where those ids are kept.
OWN_IDS: dict[str, tuple[str, type[Surcharge | Incidence]]] = {
    "surcharge": ("surcharge_id", Surcharge),
    "incidence": ("incidence_id", Incidence),
}


class IdTaken(Exception):
    """Something else has this id; whose it is, nobody is told."""


class Played(NamedTuple):
    """What an event did: its own id, whether it changed anything, how many events it made."""

    id: int | None
    changed: bool
    events: int


def play_shipment(company: Company, said: dict[str, Any]) -> Shipment:
    """Make a shipment of the company's, or bring one up to date. Raises IdTaken."""
    shipment_id = said.get("shipment_id") or free_id(Shipment, "pk")
    made_up = {"tracking_number": f"TEST{shipment_id}", "carrier_name": CARRIER}
    take_in("shipment", {**made_up, **said, "shipment_id": shipment_id, "company_id": company.pk})
    return company.shipments.get(pk=shipment_id)


def play_event(company: Company, shipment_id: int, kind: str, said: dict[str, Any]) -> Played:
    """Have something happen to the company's shipment.

    Raises Shipment.DoesNotExist and IdTaken.
    """
    company.shipments.only("pk").get(pk=shipment_id)
    own_id = None
    if kind in OWN_IDS:
        name, model = OWN_IDS[kind]
        own_id = said.get(name) or free_id(model, name if kind == "surcharge" else "pk")
        said = {**said, name: own_id}
    outcome = take_in(kind, {**said, "shipment_id": shipment_id})
    return Played(own_id, outcome.changed > 0, outcome.events)


def take_in(kind: str, values: dict[str, Any]) -> recording.BatchOutcome:
    """Record one line of the feed. Raises IdTaken: its fields are right, so nothing else is bad."""
    outcome = recording.record_facts([KINDS[kind].make(**values)])
    if outcome.bad:
        raise IdTaken(f"This id belongs to another {kind}, or to the same with other content.")
    return outcome


def free_id(model: type[Shipment | Surcharge | Incidence], field: str) -> int:
    while True:
        found = FIRST_ID + secrets.randbelow(IDS)
        if not model._default_manager.filter(**{field: found}).exists():
            return found
