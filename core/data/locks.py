"""Advisory locks of PostgreSQL; every lock that the service takes is defined here.

PostgreSQL has one space of 64-bit numbers and another of pairs of 32-bit integers. The first holds
only the fence of `deliveries/publishing.py`, which every reader of events checks. All others are
pairs. If a caller can influence the second integer, the first is derived from the id of its
company, so that it can only collide with locks of its own.
"""

from enum import IntEnum

from django.db import connection

# A key's first integer is negative, a shipment's at least this; `LockClass` lies between.
SHIPMENTS_FROM = 2**30
# Sorted by lock, so that two batches cannot deadlock; sorting by shipment would not do, as two of
# them may share a lock.
HOLD_SHIPMENTS = f"""
SELECT pg_advisory_xact_lock(first, second) FROM (
  SELECT DISTINCT ({SHIPMENTS_FROM} + company %% {SHIPMENTS_FROM})::integer AS first,
    hashint8(shipment) AS second
  FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (company, shipment) ORDER BY first, second
) AS pairs
"""  # noqa: S608 - our own number
TRY_KEY = "SELECT pg_try_advisory_xact_lock((-1 - %s %% 2147483648)::integer, hashtext(%s))"


class LockClass(IntEnum):
    """First integer of the locks that exist once each."""

    LOOPS = 7_301
    TEST_SENDS = 7_302
    RESETS = 7_304


def hold(lock: LockClass) -> None:
    """Wait for the lock and hold it until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, 0)", [lock.value])


def try_key(company_id: int, key: str) -> bool:
    """Lock a company's idempotency key until the transaction ends; False if it is taken."""
    with connection.cursor() as cursor:
        cursor.execute(TRY_KEY, [company_id, key])
        return bool(cursor.fetchone()[0])
