"""What must not happen to one shipment twice at the same time queues here."""

from collections.abc import Iterable

from django.db import connection

# The idempotency keys lock with seed 1. In one order, so that two batches cannot wait for each
# other: that of the keys themselves, as two shipments might share one.
HOLD = """
SELECT pg_advisory_xact_lock(key) FROM (
  SELECT DISTINCT hashtextextended(name, 2) AS key FROM unnest(%s::text[]) AS name ORDER BY key
) AS keys
"""


def hold_shipment(company_id: int, shipment_id: int) -> None:
    """Wait until nobody else holds this shipment of this company; hold it until the commit.

    Opening a ticket and recording an incidence both hold it before they look at each other's
    rows: so two equal tickets cannot both find nothing in the way (decision T11), and neither a
    ticket nor an incidence can miss the other (decision T19). Call it inside a transaction.
    """
    hold_shipments([(company_id, shipment_id)])


def hold_shipments(shipments: Iterable[tuple[int, int]]) -> None:
    """Hold many, each given as its company and itself."""
    if not connection.in_atomic_block:
        raise RuntimeError("A shipment can only be locked inside a transaction.")
    names = [f"{company_id}:{shipment_id}" for company_id, shipment_id in shipments]
    if names:
        with connection.cursor() as cursor:
            cursor.execute(HOLD, [names])
