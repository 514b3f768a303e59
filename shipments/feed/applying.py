"""Application of a line of the feed to a batch, in memory. Pure: no database.

The order of lines counts, not `occurred_at`: the platform's last line is the current state.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from shipments import statuses
from shipments.event_types.status import Change
from shipments.feed import news
from shipments.feed.batch import Batch, Update
from shipments.feed.parsing import (
    BadLine,
    IncidenceLine,
    Line,
    ShipmentLine,
    SurchargeLine,
    TrackingLine,
)
from shipments.models import Incidence, Shipment, Surcharge

DIGEST_BYTES = 16
REMEMBERED_LINES = 100


class Effect(NamedTuple):
    changed: bool = False
    events: int = 0
    # The line was recorded before, and changed nothing this time.
    repeated: bool = False


REPEATED = Effect(repeated=True)


def apply(batch: Batch, line: Line) -> Effect:
    """Apply a line. Raises BadLine, without having changed anything."""
    return APPLY[type(line)](batch, line)


def apply_shipment(batch: Batch, line: ShipmentLine) -> Effect:
    if line.company_id not in batch.companies:
        raise BadLine(f"company_id: there is no company {line.company_id}")
    if line.company_id in batch.erased:
        raise BadLine(f"company_id: company {line.company_id} was erased")
    shipment = batch.shipments.get(line.shipment_id)
    if shipment is None:
        batch.add_shipment(new_shipment(batch, line))
        return Effect(changed=True)
    if shipment.company_id != line.company_id:
        raise BadLine(f"company_id: shipment {shipment.pk} is company {shipment.company_id}'s")
    if not is_new_line(shipment, line.digest):
        return REPEATED
    batch.touch_shipment(shipment)
    changed = update_row(
        shipment,
        tracking_number=line.tracking_number,
        carrier_name=line.carrier_name,
        carrier_id=line.carrier_id,
        order=line.order,
    )
    return Effect(changed)


def new_shipment(batch: Batch, line: ShipmentLine) -> Shipment:
    """Make a shipment with status Created, which publishes no event (decision W18)."""
    return Shipment(
        id=line.shipment_id,
        company_id=line.company_id,
        tracking_number=line.tracking_number,
        carrier_name=line.carrier_name,
        carrier_id=line.carrier_id,
        order=line.order,
        status=statuses.CREATED,
        created_at=line.occurred_at or batch.now,
        heard=line.digest,
    )


def apply_tracking(batch: Batch, line: TrackingLine) -> Effect:
    shipment = existing_shipment(batch, line.shipment_id)
    digest = line.digest
    if (shipment.pk, digest) in batch.known_updates:
        return REPEATED
    batch.known_updates.add((shipment.pk, digest))
    change = Change(
        status=line.status,
        description=line.status_description or "",
        location=line.location or "",
        occurred_at=line.occurred_at or batch.now,
    )
    batch.new_updates.append(Update(shipment.pk, digest, change))
    if statuses.is_same_status(line.status, shipment.status):
        return Effect(changed=True)
    batch.touch_shipment(shipment)
    shipment.status = line.status
    if line.status in statuses.LEAVING and shipment.shipped_at is None:
        shipment.shipped_at = change.occurred_at
    if line.status == statuses.DELIVERED:
        shipment.delivered_at = change.occurred_at
    batch.news.extend(news.status_news(shipment, change, batch.now, batch.listened))
    return Effect(changed=True, events=1)


def apply_surcharge(batch: Batch, line: SurchargeLine) -> Effect:
    shipment = existing_shipment(batch, line.shipment_id)
    values = {
        "shipment_id": shipment.pk,
        "surcharge_type": line.surcharge_type,
        "reason": line.reason or "",
        "amount": line.amount,
        "currency": line.currency,
    }
    key = (line.surcharge_id, line.transaction_type)
    earlier = batch.surcharges.get(key)
    if earlier is not None:
        if other := [name for name, value in values.items() if getattr(earlier, name) != value]:
            raise BadLine(
                f"{', '.join(other)}: {line.transaction_type} {line.surcharge_id} is known "
                "with different content; amounts are never corrected in place"
            )
        return REPEATED
    charge = Surcharge(
        surcharge_id=line.surcharge_id,
        transaction_type=line.transaction_type,
        created_at=line.occurred_at or batch.now,
        **values,
    )
    batch.surcharges[key] = charge
    batch.new_surcharges.append(charge)
    if events := news.surcharge_news(shipment, charge, batch.now, batch.listened):
        batch.touch_shipment(shipment)
        batch.news.extend(events)
    return Effect(changed=True, events=1)


def apply_incidence(batch: Batch, line: IncidenceLine) -> Effect:
    shipment = existing_shipment(batch, line.shipment_id)
    is_open = line.open is not False
    incidence = batch.incidences.get(line.incidence_id)
    if incidence is None:
        incidence = Incidence(
            id=line.incidence_id,
            shipment=shipment,
            kind=line.incidence_kind or "",
            description=line.description or "",
            open=is_open,
            created_at=line.occurred_at or batch.now,
            heard=line.digest,
        )
        batch.add_incidence(incidence)
        note_opened(batch, incidence, was_open=False)
        return Effect(changed=True)
    if incidence.shipment_id != shipment.pk:
        raise BadLine(
            f"shipment_id: incidence {incidence.pk} is of shipment {incidence.shipment_id}"
        )
    if not is_new_line(incidence, line.digest):
        return REPEATED
    batch.touch_incidence(incidence)
    was_open = incidence.open
    changed = update_row(
        incidence, kind=line.incidence_kind, description=line.description, open=is_open
    )
    note_opened(batch, incidence, was_open=was_open)
    return Effect(changed)


def note_opened(batch: Batch, incidence: Incidence, *, was_open: bool) -> None:
    if not incidence.open:
        # An incidence that is opened and closed in the same batch was never visible as open.
        batch.opened.pop(incidence.pk, None)
    elif not was_open:
        batch.opened[incidence.pk] = incidence


def existing_shipment(batch: Batch, shipment_id: int) -> Shipment:
    shipment = batch.shipments.get(shipment_id)
    if shipment is None:
        raise BadLine(f"shipment_id: there is no shipment {shipment_id}")
    if shipment.company_id in batch.erased:
        raise BadLine(f"shipment_id: the company of shipment {shipment_id} was erased")
    return shipment


def update_row(row: Shipment | Incidence, **values: Any) -> bool:
    """Set the fields whose value is not None; return True if anything changed."""
    changes = {
        name: value
        for name, value in values.items()
        if value is not None and getattr(row, name) != value
    }
    for name, value in changes.items():
        setattr(row, name, value)
    return bool(changes)


def is_new_line(row: Shipment | Incidence, digest: bytes) -> bool:
    """Store the digest of a line about the row itself; return False if the row has it already.

    Without the digests, ingesting an old file again would reset the row to an earlier state.
    """
    digests = bytes(row.heard)
    if digest in {
        digests[start : start + DIGEST_BYTES] for start in range(0, len(digests), DIGEST_BYTES)
    }:
        return False
    row.heard = (digests + digest)[-REMEMBERED_LINES * DIGEST_BYTES :]
    return True


APPLY: dict[type[Line], Callable[[Batch, Any], Effect]] = {
    ShipmentLine: apply_shipment,
    TrackingLine: apply_tracking,
    SurchargeLine: apply_surcharge,
    IncidenceLine: apply_incidence,
}
