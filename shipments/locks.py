"""Locks on a shipment, for writers who must see each other's rows."""

from collections.abc import Iterable

from django.db import connection

from companies import statements

# Seed 2, as idempotency keys use seed 1. Locks are taken in the order of the keys, so that two
# batches cannot deadlock. Not in the order of shipments: two of them might have the same key.
HOLD = """
SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended(name, 2) AS key FROM unnest(%s::text[]) AS name ORDER BY key
) AS keys
"""


def hold_shipment(company_id: int, shipment_id: int) -> None:
    """Lock this shipment of this company until the end of the transaction; wait if it is locked.

    Opening a ticket and recording an incidence both take this lock before they read each other's
    rows. So of two duplicate tickets the second finds the first (decision T11), and a ticket and an
    incidence always find each other (decision T19). Call it inside a transaction.
    """
    hold_shipments([(company_id, shipment_id)])


def hold_shipments(shipments: Iterable[tuple[int, int]]) -> None:
    """Lock many shipments, each given as (company id, shipment id)."""
    if not connection.in_atomic_block:
        raise RuntimeError("A shipment can only be locked inside a transaction.")
    names = [f"{company_id}:{shipment_id}" for company_id, shipment_id in shipments]
    if names:
        statements.fetch_rows(HOLD, [names])
