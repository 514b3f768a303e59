"""Indexes of the queue that stay large after a transaction, such as a backup's, was open for long.

Meanwhile PostgreSQL keeps all that was delivered. VACUUM clears it away afterwards and gives the
pages of a table back, but not those of its indexes, and reads all of them each time, which for a
queue is once a minute.
Why: decision page engine-indexes-are-rebuilt.
"""

import logging
from functools import partial
from typing import Any

from django.db import OperationalError, connection

from deliveries.upkeep import rest_rows

logger = logging.getLogger(__name__)

QUEUE = ["deliveries_delivery_open", "deliveries_wakeup"]
# An index is rebuilt if it has more bytes than this, and per entry; a full page has some 60.
LEAST_BYTES = 64 * 2**20
BYTES_PER_ENTRY = 1000
# Rebuilding reads the table, under a lock: this takes some tenths of a second.
MOST_READ = 256 * 2**20

# An index's own estimate of its entries is renewed only by a VACUUM that has found some to remove.
BLOATED = """
SELECT indexrelid::regclass::text
FROM pg_index JOIN pg_class AS queue ON queue.oid = indrelid
WHERE indrelid = ANY(%(tables)s::regclass[]) AND pg_relation_size(indrelid) <= %(most_read)s
  AND pg_relation_size(indexrelid) > greatest(%(least)s, %(per_entry)s * greatest(
    reltuples, pg_stat_get_live_tuples(indrelid) + pg_stat_get_dead_tuples(indrelid)))
ORDER BY 1
"""


def rebuild_indexes() -> int:
    """Rebuild the indexes of the queue that are mostly empty pages; return how many.

    Each has its own transaction. What somebody has locked for longer stays for the next run.
    """
    values: dict[str, Any] = {
        "tables": QUEUE,
        "least": LEAST_BYTES,
        "per_entry": BYTES_PER_ENTRY,
        "most_read": MOST_READ,
    }
    with connection.cursor() as cursor:
        cursor.execute(BLOATED, values)
        names = [name for (name,) in cursor.fetchall()]
    for count, name in enumerate(names):
        try:
            rest_rows.retry_locked(partial(rest_rows.run, [f"REINDEX INDEX {name}"]))
        except OperationalError as error:
            logger.warning("cannot rebuild %s, the next run will: %s", name, error)
            return count
        logger.info("rebuilt the index %s", name)
    return len(names)
