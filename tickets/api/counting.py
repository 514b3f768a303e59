"""Counts of tickets in a list: exact up to 10,000, else from a recent count by a worker.

A request never reads more than 10,000. A worker counts longer lists, each at most once in half a
minute (decision page tickets-long-lists-are-counted-by-a-worker).
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
CACHE_SECONDS = 600
# Time within which the same list is not handed to another worker.
COUNTING_SECONDS = 60
TASK = "tickets.tasks.count_list"
# Query parameters that do not affect the counts by status.
NOT_COUNTED_BY = {
    "page",
    "limit",
    "cursor",
    "getComments",
    "status",
    "ticket_status_id",
    "status_group",
}


class TicketCounts(NamedTuple):
    """Number of tickets by status, and whether it is exact."""

    by_status: Mapping[int, int]
    exact: bool


def count_tickets(company_id: int, query: Mapping[str, str], rows: TicketQuerySet) -> TicketCounts:
    """Count tickets by status; `rows` match the query parameters except for the status."""
    filters = {name: query[name] for name in sorted(query.keys() - NOT_COUNTED_BY)}
    key = cache_key_of(company_id, filters)
    cached = look_up(key)
    if cached is not None and cached["at"] > time.time() - FRESH_SECONDS:
        return TicketCounts(as_numbers(cached["by_status"]), exact=False)
    if cached is None:
        some = count_some(rows)
        if sum(some.values()) <= MOST_COUNTED:
            return TicketCounts(some, exact=True)
        cached = {"by_status": some}
    request_count(company_id, filters, key)
    return TicketCounts(as_numbers(cached["by_status"]), exact=False)


def count_some(tickets: TicketQuerySet) -> dict[int, int]:
    """Count the first MOST_COUNTED + 1 tickets by status."""
    some = tickets.order_by().values_list("status")[: MOST_COUNTED + 1]
    try:
        sql, values = some.query.sql_with_params()
    except EmptyResultSet:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT status, count(*) FROM ({sql}) AS first GROUP BY status", values)  # noqa: S608
        return dict(cursor.fetchall())


def request_count(company_id: int, filters: Mapping[str, str], key: str) -> None:
    """Ring a worker to count a list, unless another request has just done so."""
    try:
        first = cache.add(f"{key}:counting", 1, timeout=COUNTING_SECONDS)
    except Exception as error:  # each cache client has its own exceptions
        logger.warning("cannot reach the cache, long lists are not counted: %s", error)
        return
    if first:
        doorbell.ring(TASK, company_id, dict(filters))


def cache_count(company_id: int, filters: Mapping[str, str], tickets: TicketQuerySet) -> None:
    """Count all tickets of a list by status, and cache the counts if it is a long list."""
    key = cache_key_of(company_id, filters)
    by_status = dict(tickets.order_by().values_list("status").annotate(number=Count("*")))
    if sum(by_status.values()) > MOST_COUNTED:
        cache.set(key, {"by_status": by_status, "at": time.time()}, timeout=CACHE_SECONDS)
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
