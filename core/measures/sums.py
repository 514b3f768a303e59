"""Sums over all processes, in one small table: any web process shows them all.

Each process adds what it has counted since it last did, in one statement, at most every
EVERY_SECONDS and not at all while nothing happens. A process that is killed loses what it counted
since; nothing else makes a sum wrong, and nothing makes it fall.
Why: decision page config-counts-are-sums-in-the-database.
"""

import json
import logging
import time

from django.db import DatabaseError, InterfaceError

from core.data import statements
from core.measures.counting import Series, pending

logger = logging.getLogger(__name__)

EVERY_SECONDS = 5.0

# Rows are sorted by their keys, so that two processes never deadlock.
ADD = """
INSERT INTO core_sum AS kept (name, labels, value)
SELECT * FROM unnest(%s::text[], %s::text[], %s::float8[])
ON CONFLICT (name, labels) DO UPDATE SET value = kept.value + excluded.value
"""
READ = "SELECT name, labels, value FROM core_sum"


class LastWrite:
    """Time of this process's last attempt to write, by its monotonic clock."""

    at = 0.0


def are_due() -> bool:
    """Return whether there is something to write, and EVERY_SECONDS have passed."""
    return bool(pending) and time.monotonic() - LastWrite.at >= EVERY_SECONDS


def write_sums() -> bool:
    """Write the pending sums; return False, and never raise, if the database fails.

    Sums that were not written are retried at the next call. Call it outside of transactions: until
    one ends, other processes wait for its rows.
    """
    LastWrite.at = time.monotonic()
    sums = pending.take()
    if not sums:
        return True
    rows = sorted((name, json.dumps(labels), value) for (name, labels), value in sums.items())
    try:
        with statements.cursor() as cursor:
            cursor.execute(ADD, [list(column) for column in zip(*rows, strict=True)])
    except (DatabaseError, InterfaceError) as error:
        pending.add(sums)
        logger.warning("counts are kept until the database takes them: %s", error)
        return False
    return True


def write_if_due() -> None:
    if are_due():
        write_sums()


def read_sums() -> dict[Series, float]:
    rows = statements.fetch_rows(READ, [])
    return {(name, tuple(json.loads(labels))): value for name, labels, value in rows}
