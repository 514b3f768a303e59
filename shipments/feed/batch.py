"""Batch of lines: the rows that they concern, read once and locked, and the rows to write."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from companies.models import Company
from deliveries import publishing
from deliveries.publishing import News
from shipments.event_types.status import Change
from shipments.feed.parsing import IncidenceLine, Line, ShipmentLine, SurchargeLine, TrackingLine
from shipments.models import Incidence, Shipment, Surcharge

KNOWN_UPDATES = """
SELECT u.shipment_id, u.digest FROM shipments_trackingupdate u
JOIN json_to_recordset(%s) AS asked(shipment_id bigint, digest text)
  ON asked.shipment_id = u.shipment_id AND decode(asked.digest, 'hex') = u.digest
-- Excludes the partitions of future weeks.
WHERE u.day <= CURRENT_DATE + 1
"""


class Update(NamedTuple):
    """Values of a TrackingUpdate that is not in the database yet."""

    shipment_id: int
    digest: bytes
    change: Change


@dataclass(slots=True)
class Batch:
    """Rows in memory, which `applying` changes line by line and `saving` writes."""

    now: datetime
    companies: set[int]
    # Companies of the batch that were erased: their lines are refused.
    erased: set[int]
    listened: set[tuple[int, int]]
    shipments: dict[int, Shipment]
    known_updates: set[tuple[int, bytes]]
    surcharges: dict[tuple[int, str], Surcharge]
    incidences: dict[int, Incidence]

    new_shipments: dict[int, Shipment] = field(default_factory=dict)
    changed_shipments: dict[int, Shipment] = field(default_factory=dict)
    new_updates: list[Update] = field(default_factory=list)
    new_surcharges: list[Surcharge] = field(default_factory=list)
    new_incidences: dict[int, Incidence] = field(default_factory=dict)
    changed_incidences: dict[int, Incidence] = field(default_factory=dict)
    opened: dict[int, Incidence] = field(default_factory=dict)
    news: list[News] = field(default_factory=list)

    def add_shipment(self, shipment: Shipment) -> None:
        self.shipments[shipment.pk] = self.new_shipments[shipment.pk] = shipment

    def touch_shipment(self, shipment: Shipment) -> None:
        if shipment.pk not in self.new_shipments:
            self.changed_shipments[shipment.pk] = shipment

    def add_incidence(self, incidence: Incidence) -> None:
        self.incidences[incidence.pk] = self.new_incidences[incidence.pk] = incidence

    def touch_incidence(self, incidence: Incidence) -> None:
        if incidence.pk not in self.new_incidences:
            self.changed_incidences[incidence.pk] = incidence


def fetch(lines: Sequence[Line], now: datetime) -> Batch:
    """Lock the shipments of `lines`, then read the other rows that the lines refer to.

    Every writer of facts about a shipment locks its row first, so rows that are read after the lock
    stay valid until the commit. Rows are locked in the order of their ids, to avoid deadlocks.
    """
    shipments = {
        shipment.pk: shipment
        # no_key lets other transactions insert rows that refer to the shipment.
        for shipment in Shipment.objects.filter(pk__in={line.shipment_id for line in lines})
        .order_by("pk")
        .select_for_update(no_key=True)
    }
    company_ids = {line.company_id for line in lines if isinstance(line, ShipmentLine)}
    company_ids |= {shipment.company_id for shipment in shipments.values()}
    erased_at = dict(Company.objects.filter(pk__in=company_ids).values_list("pk", "erased_at"))
    companies = set(erased_at)
    return Batch(
        now=now,
        companies=companies,
        erased={pk for pk, time in erased_at.items() if time is not None},
        listened=publishing.listening_types(companies),
        shipments=shipments,
        known_updates=known_updates(line for line in lines if isinstance(line, TrackingLine)),
        surcharges=known_surcharges(line for line in lines if isinstance(line, SurchargeLine)),
        incidences=Incidence.objects.in_bulk(
            {line.incidence_id for line in lines if isinstance(line, IncidenceLine)}
        ),
    )


def known_updates(lines: Iterable[TrackingLine]) -> set[tuple[int, bytes]]:
    keys = [{"shipment_id": line.shipment_id, "digest": line.digest.hex()} for line in lines]
    if not keys:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_UPDATES, [json.dumps(keys)])
        return {(shipment_id, bytes(digest)) for shipment_id, digest in cursor}


def known_surcharges(lines: Iterable[SurchargeLine]) -> dict[tuple[int, str], Surcharge]:
    ids = {line.surcharge_id for line in lines}
    if not ids:
        return {}
    charges = Surcharge.objects.filter(surcharge_id__in=ids)
    return {(charge.surcharge_id, charge.transaction_type): charge for charge in charges}
