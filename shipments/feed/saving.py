"""Saving of a batch in a few statements, whatever the number of rows.

Each statement gets its rows as one JSON text, which is quoted once; arrays are quoted item by item.
Rows are inserted in the order of their unique key, so that two runs that insert the same rows wait
for each other and do not deadlock.
"""

import json
from collections.abc import Callable, Collection
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

from deliveries.publishing import publish
from shipments.feed.batch import Batch, Update
from shipments.locks import hold_shipments
from shipments.models import Incidence, Shipment, Surcharge

INSERT_SHIPMENTS = """
INSERT INTO shipments_shipment (id, company_id, tracking_number, carrier_name, carrier_id, "order",
  status, created_at, shipped_at, delivered_at, last_event_at, heard)
SELECT id, company_id, tracking_number, carrier_name, carrier_id, "order",
  status, created_at, shipped_at, delivered_at, last_event_at, decode(heard, 'hex')
FROM json_to_recordset(%s) AS n(id bigint, company_id bigint, tracking_number text,
  carrier_name text, carrier_id bigint, "order" jsonb, status text, created_at timestamptz,
  shipped_at timestamptz, delivered_at timestamptz, last_event_at timestamptz, heard text)
ORDER BY id
ON CONFLICT DO NOTHING
"""
UPDATE_SHIPMENTS = """
UPDATE shipments_shipment s SET tracking_number = n.tracking_number,
  carrier_name = n.carrier_name, carrier_id = n.carrier_id, "order" = n."order",
  status = n.status, shipped_at = n.shipped_at, delivered_at = n.delivered_at,
  last_event_at = n.last_event_at, heard = decode(n.heard, 'hex')
FROM json_to_recordset(%s) AS n(id bigint, tracking_number text, carrier_name text,
  carrier_id bigint, "order" jsonb, status text, shipped_at timestamptz,
  delivered_at timestamptz, last_event_at timestamptz, heard text)
WHERE s.id = n.id
"""
INSERT_UPDATES = """
INSERT INTO shipments_trackingupdate
  (shipment_id, digest, status, status_description, location, occurred_at)
SELECT shipment_id, decode(digest, 'hex'), status, description, location, occurred_at
FROM json_to_recordset(%s) AS n(shipment_id bigint, digest text, status text, description text,
  location text, occurred_at timestamptz)
ON CONFLICT DO NOTHING
"""
# DESC inserts a surcharge before its refund.
INSERT_SURCHARGES = """
INSERT INTO shipments_surcharge (surcharge_id, transaction_type, shipment_id, surcharge_type,
  reason, amount, currency, created_at)
SELECT surcharge_id, transaction_type, shipment_id, surcharge_type, reason, amount, currency,
  created_at
FROM json_to_recordset(%s) AS n(surcharge_id bigint, transaction_type text, shipment_id bigint,
  surcharge_type text, reason text, amount numeric, currency text, created_at timestamptz)
ORDER BY surcharge_id, transaction_type DESC
ON CONFLICT DO NOTHING
"""
INSERT_INCIDENCES = """
INSERT INTO shipments_incidence (id, shipment_id, kind, description, open, created_at, heard)
SELECT id, shipment_id, kind, description, open, created_at, decode(heard, 'hex')
FROM json_to_recordset(%s) AS n(id bigint, shipment_id bigint, kind text, description text,
  open boolean, created_at timestamptz, heard text)
ORDER BY id
ON CONFLICT DO NOTHING
"""
UPDATE_INCIDENCES = """
UPDATE shipments_incidence i
SET kind = n.kind, description = n.description, open = n.open, heard = decode(n.heard, 'hex')
FROM json_to_recordset(%s) AS n(id bigint, kind text, description text, open boolean, heard text)
WHERE i.id = n.id
"""

Row = dict[str, Any]


class Raced(RuntimeError):
    """Another run wrote one of the rows after the batch was fetched: fetch the batch again."""


def save_batch(batch: Batch) -> None:
    """Write a batch and publish its events.

    Raises Raced; the caller must then roll back the transaction.
    """
    write_rows(INSERT_SHIPMENTS, batch.new_shipments.values(), shipment_row)
    write_rows(UPDATE_SHIPMENTS, batch.changed_shipments.values(), shipment_row)
    write_rows(INSERT_UPDATES, batch.new_updates, update_row)
    write_rows(INSERT_SURCHARGES, batch.new_surcharges, surcharge_row)
    save_incidences(batch)
    publish(batch.news)


def save_incidences(batch: Batch) -> None:
    concerned = [*batch.new_incidences.values(), *batch.changed_incidences.values()]
    # Opening a ticket takes the same lock, so the second of the two transactions sees the other's
    # row and links them (decision T19).
    hold_shipments(
        {
            (batch.shipments[incidence.shipment_id].company_id, incidence.shipment_id)
            for incidence in concerned
        }
    )
    write_rows(INSERT_INCIDENCES, batch.new_incidences.values(), incidence_row)
    write_rows(UPDATE_INCIDENCES, batch.changed_incidences.values(), incidence_row)
    if batch.opened:
        on_incidence = import_string(settings.INCIDENCE_RECORDED)
        for _, incidence in sorted(batch.opened.items()):
            on_incidence(incidence)


def write_rows(statement: str, items: Collection[Any], row: Callable[[Any], Row]) -> None:
    if not items:
        return
    with connection.cursor() as cursor:
        # PostgreSQL parses amounts and times from their text.
        cursor.execute(statement, [json.dumps([row(item) for item in items], default=str)])
        if cursor.rowcount != len(items):
            raise Raced


def shipment_row(shipment: Shipment) -> Row:
    return {
        "id": shipment.pk,
        "company_id": shipment.company_id,
        "tracking_number": shipment.tracking_number,
        "carrier_name": shipment.carrier_name,
        "carrier_id": shipment.carrier_id,
        "order": shipment.order,
        "status": shipment.status,
        "created_at": shipment.created_at,
        "shipped_at": shipment.shipped_at,
        "delivered_at": shipment.delivered_at,
        "last_event_at": shipment.last_event_at,
        "heard": shipment.heard.hex(),
    }


def update_row(update: Update) -> Row:
    return {
        "shipment_id": update.shipment_id,
        "digest": update.digest.hex(),
        "status": update.change.status,
        "description": update.change.description,
        "location": update.change.location,
        "occurred_at": update.change.occurred_at,
    }


def surcharge_row(charge: Surcharge) -> Row:
    return {
        "surcharge_id": charge.surcharge_id,
        "transaction_type": charge.transaction_type,
        "shipment_id": charge.shipment_id,
        "surcharge_type": charge.surcharge_type,
        "reason": charge.reason,
        "amount": charge.amount,
        "currency": charge.currency,
        "created_at": charge.created_at,
    }


def incidence_row(incidence: Incidence) -> Row:
    return {
        "id": incidence.pk,
        "shipment_id": incidence.shipment_id,
        "kind": incidence.kind,
        "description": incidence.description,
        "open": incidence.open,
        "created_at": incidence.created_at,
        "heard": incidence.heard.hex(),
    }
