"""Checks of PostgreSQL: its own health, what fills, blocks or wears it, and our connections.

Everything is read from views that any role may read; what only a superuser sees is left out.
"""

import os
import shutil
import time
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    OperationalError,
    ProgrammingError,
    connection,
    connections,
    transaction,
)
from django.db.utils import ConnectionHandler
from psycopg.errors import ConfigurationLimitExceeded, DiskFull

from core.data.database import ENCODING, encoding_of, rows_of
from core.watch.doctor import Concern, first_line, graded, register
from core.watch.readiness import part

OLDEST_POSTGRESQL = 140_000

LONG_SECONDS, BLOCKED_SECONDS = 300, 5
# Ages in transactions; PostgreSQL stops writing at two thousand million.
MANY_AGES, LAST_AGES = 1_000_000_000, 1_600_000_000
MANY_DEAD, DEAD_SHARE = 100_000, 1.0
MUCH_WAL, TOO_MUCH_WAL = 1024**3, 16 * 1024**3
FEW_LEFT = 0.2
LITTLE_ROOM_SHARE, NO_ROOM_SHARE = 0.15, 0.05
# PostgreSQL's default of shared_buffers, and the size of a database that is too large for it.
DEFAULT_BUFFERS, LARGE_DATABASE = 128 * 1024**2, 10 * 1024**3
LISTED_ROWS = 3
# Receivers refuse timestamps that are minutes off.
SKEW_SECONDS, WRONG_SECONDS = 2.0, 60.0

# Spills into the folder of the database's own files, not into another tablespace.
SPILL = "SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = ''"
FILL = "SELECT count(*) FROM generate_series(1, 50000)"
INVALID_INDEXES = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
TRANSACTIONS = """
SELECT format('process %%s for %%s s (%%s, %%s)', pid,
  extract(epoch FROM clock_timestamp() - xact_start)::integer, state,
  coalesce(nullif(application_name, ''), usename))
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND xact_start < clock_timestamp() - make_interval(secs => %s)
UNION ALL
SELECT format('prepared %%s', gid) FROM pg_prepared_xacts
WHERE database = current_database()
  AND prepared < clock_timestamp() - make_interval(secs => %s)
"""
BLOCKED = """
SELECT format('process %%s waits for %%s', pid, array_to_string(pg_blocking_pids(pid), ', '))
FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
  AND state_change < clock_timestamp() - make_interval(secs => %s)
"""
AGES = """
SELECT datname, greatest(age(datfrozenxid), mxid_age(datminmxid)) FROM pg_database
ORDER BY 2 DESC LIMIT 1
"""
WORN = """
SELECT format('%%s has %%s dead rows beside %%s', relname, n_dead_tup, n_live_tup)
FROM pg_stat_user_tables WHERE n_dead_tup >= %s AND n_dead_tup >= %s * n_live_tup
ORDER BY n_dead_tup DESC
"""
NOT_VACUUMED = """
SELECT relname FROM pg_class WHERE 'autovacuum_enabled=off' = ANY(reloptions)
  OR 'autovacuum_enabled=false' = ANY(reloptions)
"""
CONNECTIONS = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND backend_type = 'client backend'),
  current_setting('max_connections')::integer
    - current_setting('superuser_reserved_connections')::integer,
  (SELECT datconnlimit FROM pg_database WHERE datname = current_database())
"""
SLOTS_BEHIND = """
SELECT slot_name, active, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint AS behind
FROM pg_replication_slots WHERE restart_lsn IS NOT NULL ORDER BY behind DESC
"""
SIZE = """
SELECT pg_database_size(current_database()), pg_size_bytes(current_setting('shared_buffers'))
"""
DATA_FOLDER = """
SELECT setting FROM pg_settings WHERE name = 'data_directory'
"""
SAFETY = "SELECT name FROM pg_settings WHERE name = ANY(%s) AND setting = 'off'"
TIMEOUTS = """
SELECT name FROM pg_settings WHERE setting = '0'
  AND name IN ('statement_timeout', 'idle_in_transaction_session_timeout')
"""


def listed_rows(rows: list[Any]) -> str:
    more = f" and {len(rows) - LISTED_ROWS} more" if len(rows) > LISTED_ROWS else ""
    return "; ".join(str(first) for first, *_ in rows[:LISTED_ROWS]) + more


@register("Find out what it does; SELECT pg_terminate_backend(PROCESS) ends it.")
def transactions() -> str:
    """Look for long transactions: vacuum removes nothing that is younger than the oldest."""
    if rows := rows_of(TRANSACTIONS, LONG_SECONDS, LONG_SECONDS):
        raise Concern(f"open for long: {listed_rows(rows)}")
    return f"none is open for more than {LONG_SECONDS} s"


@register("End what they wait for, if it may be: SELECT pg_terminate_backend(PROCESS).")
def locks() -> str:
    if rows := rows_of(BLOCKED, BLOCKED_SECONDS):
        raise Concern(f"{len(rows)} blocked: {listed_rows(rows)}")
    return f"nobody has waited for more than {BLOCKED_SECONDS} s"


@register("Run vacuumdb --freeze on that database, and find out what stops autovacuum there.")
def transaction_ids() -> str:
    """Check the oldest transaction id: at two thousand million PostgreSQL refuses to write."""
    name, age = rows_of(AGES)[0]
    detail = f"the oldest of {name} is {age:,} transactions old"
    return graded(detail, broken=age >= LAST_AGES, doubtful=age >= MANY_AGES)


@register("Switch autovacuum on, end long transactions, and run VACUUM (ANALYZE) on the table.")
def vacuum() -> str:
    if rows_of(SAFETY, ["autovacuum", "track_counts"]):
        raise RuntimeError("autovacuum is switched off")
    if rows := rows_of(NOT_VACUUMED):
        raise Concern(f"autovacuum is switched off for {listed_rows(rows)}")
    if rows := rows_of(WORN, MANY_DEAD, DEAD_SHARE):
        raise Concern(f"autovacuum is behind: {listed_rows(rows)}")
    return "keeps up"


@register("Raise max_connections, put PgBouncer in between, or start fewer processes.")
def connections_left() -> str:
    everybody, own, most, limit = rows_of(CONNECTIONS)[0]
    used, most = (own, limit) if 0 <= limit < most else (everybody, most)
    detail = f"{used} of {most} connections are taken"
    return graded(detail, broken=used >= most, doubtful=most - used < FEW_LEFT * most)


@register("Bring back what reads it, or drop it: SELECT pg_drop_replication_slot(NAME).")
def replication_slots() -> str:
    """Check replication slots: the WAL that one holds may fill the server's disk."""
    if rows_of("SELECT pg_is_in_recovery()")[0][0]:
        return "a standby keeps none for us"
    rows = rows_of(SLOTS_BEHIND)
    late = [
        (f"{name} holds {behind // 1024**2} MiB of WAL{'' if active else ' and nobody reads it'}",)
        for name, active, behind in rows
        if behind >= MUCH_WAL or not active
    ]
    if rows and rows[0][2] >= TOO_MUCH_WAL:
        raise RuntimeError(listed_rows(late))
    if late:
        raise Concern(listed_rows(late))
    return f"{len(rows)}, all read" if rows else "there are none"


@register("Make room on the server's disk, or have prune forget more.")
def database_size() -> str:
    """Check disk space, which is known if the server is on this host and shows its folder."""
    size = rows_of(SIZE)[0][0]
    detail = f"{size // 1024**2} MiB"
    folder = rows_of(DATA_FOLDER)
    if not folder or not os.path.isdir(folder[0][0]):
        return f"{detail}; the room on its disk is not ours to see"
    usage = shutil.disk_usage(folder[0][0])
    detail = f"{detail}, {usage.free // 1024**2} MiB free beside it"
    return graded(
        detail,
        broken=usage.free < NO_ROOM_SHARE * usage.total,
        doubtful=usage.free < LITTLE_ROOM_SHARE * usage.total,
    )


@register("Set shared_buffers to a quarter of the server's memory and restart it.")
def database_memory() -> str:
    size, buffers = rows_of(SIZE)[0]
    detail = f"shared_buffers is {buffers // 1024**2} MiB, the database {size // 1024**2} MiB"
    if buffers <= DEFAULT_BUFFERS and size >= LARGE_DATABASE:
        raise Concern(f"{detail}: it was never set")
    return detail


@register("Switch them on and restart PostgreSQL: what was answered may be lost in a crash.")
def durability() -> str:
    off = rows_of(SAFETY, ["fsync", "full_page_writes", "synchronous_commit"])
    if off and settings.ENVIRONMENT == "production":
        raise Concern(f"off: {', '.join(name for (name,) in off)}")
    return f"{', '.join(name for (name,) in off)} off, in a test" if off else "on"


@register("Take statement_timeout out of ignore_startup_parameters and server_reset_query.")
def timeouts() -> str:
    """Check that timeouts are set: a pooler may reset them, and a statement then runs for ever."""
    if missing := rows_of(TIMEOUTS):
        raise Concern(f"our connections have none: {', '.join(name for (name,) in missing)}")
    return "our connections have theirs"


@part(gauge=False)
def database() -> str:
    rows_of("SELECT 1")
    return "answers"


@register(
    "Install a newer PostgreSQL, make the database with --encoding UTF8, or connect without what"
    " sets jit.",
    name="database",
)
def postgresql() -> str:
    ((jit,),) = rows_of("SHOW jit")
    version = connection.connection.info.server_version
    name = f"PostgreSQL {version // 10_000}.{version % 10_000}"
    if version < OLDEST_POSTGRESQL:
        raise RuntimeError(f"{name} is older than {OLDEST_POSTGRESQL // 10_000}")
    if (encoding := encoding_of(connection)) != ENCODING:
        raise RuntimeError(f"the database keeps texts in {encoding} instead of {ENCODING}")
    if jit != "off":
        raise RuntimeError(f"{name} compiles statements (jit is {jit}) on a connection of ours")
    return f"{name}, without JIT"


@register("Correct ENGINE_DATABASE_URL: it leads to the server itself.", per_host=True)
def engine_database() -> str:
    if not settings.ENGINE_DATABASE:
        return "the same as DATABASE_URL"
    patience = connections.settings[DEFAULT_DB_ALIAS].get("PATIENCE_SECONDS")
    own = {**settings.ENGINE_DATABASE, "PATIENCE_SECONDS": patience}
    direct = ConnectionHandler({DEFAULT_DB_ALIAS: own})[DEFAULT_DB_ALIAS]
    try:
        with direct.cursor() as cursor:
            cursor.execute("SELECT 1")
    except OperationalError as error:
        raise RuntimeError(str(error)) from error
    finally:
        direct.close()
    return "answers"


@register(
    "Make room on the disk of PostgreSQL, or give it more: docs/operations/runbooks.md#disk-full."
)
@part()
def database_disk() -> str:
    """Have PostgreSQL write a file of a megabyte, which it removes again.

    A server with a full disk keeps answering reads.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(SPILL)
            cursor.execute(FILL)
    except OperationalError as error:
        if isinstance(error.__cause__, DiskFull):
            text = f"No space left: {first_line(error)}"
            raise RuntimeError(text) from error
        if isinstance(error.__cause__, ConfigurationLimitExceeded):
            return "cannot be tried, as temp_file_limit allows no file of a megabyte"
        raise
    return "takes a file"


@register("Run manage.py migrate.")
@part(gauge=False)
def migrations() -> str:
    if missing := shipped_migrations() - applied_migrations():
        raise RuntimeError(f"{len(missing)} migrations are not applied: run manage.py migrate")
    return "applied"


def applied_migrations() -> set[tuple[str, str]]:
    """Return app and name of each applied migration; empty before the first `migrate`."""
    try:
        return set(rows_of("SELECT app, name FROM django_migrations"))
    except ProgrammingError:
        return set()


@cache
def shipped_migrations() -> frozenset[tuple[str, str]]:
    """Return the app and name of each shipped migration, by file: loading all takes 9 MB."""
    return frozenset(
        (app.label, each.name)
        for app in apps.get_app_configs()
        for each in iter_modules([str(Path(app.path) / "migrations")])
        if not each.name.startswith(("_", "~"))
    )


@register("Drop them with DROP INDEX CONCURRENTLY and run manage.py migrate again.")
def indexes() -> str:
    if invalid := rows_of(INVALID_INDEXES):
        raise Concern(f"an interrupted migration left {', '.join(name for (name,) in invalid)}")
    return "all are valid"


@register("Have both hosts ask the same time server (NTP).", per_host=True)
def clock() -> str:
    """Compare host and database clocks; signatures use the former, retries the latter."""
    with connection.cursor() as cursor:
        before = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        (theirs,) = cursor.fetchone()
        after = time.time()
    skew = theirs - (before + after) / 2
    # The clock was read at some moment of the call: a slow answer is not a wrong clock.
    at_least = abs(skew) - (after - before) / 2
    detail = f"the database's is {abs(skew):.1f} s {'ahead' if skew > 0 else 'behind'}"
    return graded(detail, broken=at_least >= WRONG_SECONDS, doubtful=at_least >= SKEW_SECONDS)
