"""Locks on a shipment, for writers who must see each other's rows."""

from collections.abc import Iterable

from django.db import connection

from core.data import statements
from core.data.locks import HOLD_SHIPMENTS


def hold_shipment(company_id: int, shipment_id: int) -> None:
    """Lock this shipment of this company until the end of the transaction; wait if it is locked.

    Opening a ticket and recording an incidence both take this lock before they read each other's
    rows. So the second of two duplicate tickets finds the first (decision T11), and a ticket and an
    incidence always find each other (decision T19). Raises RuntimeError outside a transaction.
    """
    hold_shipments([(company_id, shipment_id)])


def hold_shipments(shipments: Iterable[tuple[int, int]]) -> None:
    """Lock many shipments, each given as (company id, shipment id)."""
    if not connection.in_atomic_block:
        raise RuntimeError("A shipment can only be locked inside a transaction.")
    if pairs := list(shipments):
        companies, numbers = zip(*pairs, strict=True)
        statements.fetch_rows(HOLD_SHIPMENTS, [list(companies), list(numbers)])
