"""How many tickets a list has: exact up to 10,000, beyond that as they were counted a moment ago.

A request reads no more than that, however many there are. A worker counts the others, and each
list once in half a minute at most (decision page tickets-long-lists-are-counted-by-a-worker).
"""

import json
import logging
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from django.core.cache import cache
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count

from core.jobs import doorbell
from tickets.models.tickets import TicketQuerySet

logger = logging.getLogger(__name__)

MOST_COUNTED = 10_000
FRESH_SECONDS = 30
KEPT_SECONDS = 600
# For so long nobody else has the same list counted.
COUNTING_SECONDS = 60
TASK = "tickets.tasks.count_list"
# What changes nothing about how many there are of each status.
NOT_COUNTED_BY = {
    "page",
    "limit",
    "cursor",
    "getComments",
    "status",
    "ticket_status_id",
    "status_group",
}


class Counted(NamedTuple):
    """How many tickets there are of each status, and whether that is exact."""

    by_status: Mapping[int, int]
    exact: bool


def count_tickets(company_id: int, sent: Mapping[str, str], found: TicketQuerySet) -> Counted:
    """Count `found`, which is what a company asked for with `sent`, the status left out."""
    filters = {name: sent[name] for name in sorted(sent.keys() - NOT_COUNTED_BY)}
    key = cache_key_of(company_id, filters)
    kept = look_up(key)
    if kept is not None and kept["at"] > time.time() - FRESH_SECONDS:
        return Counted(as_numbers(kept["by_status"]), exact=False)
    if kept is None:
        some = count_some(found)
        if sum(some.values()) <= MOST_COUNTED:
            return Counted(some, exact=True)
        kept = {"by_status": some}
    have_counted(company_id, filters, key)
    return Counted(as_numbers(kept["by_status"]), exact=False)


def count_some(found: TicketQuerySet) -> dict[int, int]:
    """By status, of the first MOST_COUNTED and one more."""
    some = found.order_by().values_list("status")[: MOST_COUNTED + 1]
    try:
        sql, values = some.query.sql_with_params()
    except EmptyResultSet:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT status, count(*) FROM ({sql}) AS first GROUP BY status", values)  # noqa: S608
        return dict(cursor.fetchall())


def have_counted(company_id: int, filters: Mapping[str, str], key: str) -> None:
    """Ask a worker to count, unless somebody has just done so."""
    try:
        first = cache.add(f"{key}:counting", 1, timeout=COUNTING_SECONDS)
    except Exception as error:  # each cache client has its own exceptions
        logger.warning("cannot reach the cache, long lists are not counted: %s", error)
        return
    if first:
        doorbell.ring(TASK, company_id, dict(filters))


def keep_count(company_id: int, filters: Mapping[str, str], found: TicketQuerySet) -> None:
    """Count all of them, and keep that for the next who asks."""
    key = cache_key_of(company_id, filters)
    by_status = dict(found.order_by().values_list("status").annotate(number=Count("*")))
    if sum(by_status.values()) > MOST_COUNTED:
        cache.set(key, {"by_status": by_status, "at": time.time()}, timeout=KEPT_SECONDS)
    else:
        cache.delete(key)
    cache.delete(f"{key}:counting")


def look_up(key: str) -> Any:
    try:
        return cache.get(key)
    except Exception as error:  # as above
        logger.warning("cannot reach the cache, long lists are counted in part: %s", error)
        return None


def cache_key_of(company_id: int, filters: Mapping[str, str]) -> str:
    return f"tickets:{company_id}:{sha256(json.dumps(dict(filters)).encode()).hexdigest()}"


def as_numbers(by_status: Mapping[Any, int]) -> dict[int, int]:
    return {int(status): number for status, number in by_status.items()}
