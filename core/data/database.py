"""Settings of PostgreSQL connections, and the session settings that each one begins with."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# A peer that is dead or cut off is noticed within seconds, not after two hours.
OPTIONS: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    # Django disables preparing unless this is set. Only core.data.statements asks for it.
    "prepare_threshold": 0,
}


def connection_settings(address: dict[str, Any]) -> dict[str, Any]:
    """Return the Django settings of a database from its parsed URL; the URL's own options win.

    With several hosts, a connection goes to whichever accepts writes when it is opened.
    """
    several = {"target_session_attrs": "read-write"} if "," in address.get("HOST", "") else {}
    return {
        **address,
        "ENGINE": "core.data.postgresql",
        # A request costs half as much on a kept connection; web threads bound their number.
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**OPTIONS, **several, **address.get("OPTIONS", {})},
    }


# One statement, so one round trip for a new connection.
#
# JIT: every statement here is short, and compiling one takes a hundred times as long as running it.
# Before PostgreSQL 18 the planner adds 10^10 to the cost of a plan it was told to avoid, so the
# engine's statements all look expensive enough to compile.
# Timeouts: no statement of a request or a task is meant to take longer. Bulk commands and
# migrations that build an index set their own.
SETTINGS = """
SELECT set_config('jit', 'off', false),
  set_config('statement_timeout', '30s', false),
  set_config('idle_in_transaction_session_timeout', %s, false)
"""
# A process that freezes in a transaction keeps its locks for this long, unless the connection's
# setting IDLE_IN_TRANSACTION_SECONDS says otherwise.
IDLE_IN_TRANSACTION_SECONDS = 60


# Longer than statement_timeout, so that PostgreSQL itself ends a slow statement first.
PATIENCE_SECONDS = 35.0


def wait_at_most(seconds: float = PATIENCE_SECONDS) -> None:
    """Make statements fail with OperationalError if the server does not answer in time.

    Applies to this process and those it forks. Management commands wait for ever.
    """
    connections.settings[DEFAULT_DB_ALIAS]["PATIENCE_SECONDS"] = seconds


def prepare_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Apply the settings of a new connection; a receiver of Django's `connection_created`.

    Uses a statement, since PgBouncer refuses the `options` startup parameter. RESET therefore
    gives a setting the server's value, not ours.
    """
    name = "IDLE_IN_TRANSACTION_SECONDS"
    idle_seconds = connection.settings_dict.get(name, IDLE_IN_TRANSACTION_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS, [f"{idle_seconds}s"])


# Counts the role's own connections by state: PostgreSQL hides the state of other roles'.
CONNECTIONS = """
SELECT CASE WHEN state IN ('active', 'idle') THEN state
    WHEN state LIKE 'idle in transaction%%' THEN 'idle_in_transaction' ELSE 'other' END,
  count(*)
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
GROUP BY 1
"""
CONNECTION_STATES = ("active", "idle", "idle_in_transaction", "other")


# Holds the texts of all languages; some of our SQL functions work in no other encoding.
ENCODING = "UTF8"


def encoding_of(connection: BaseDatabaseWrapper) -> str:
    """Return the server encoding of a database, such as UTF8; connects if necessary."""
    connection.ensure_connection()
    return str(connection.connection.info.parameter_status("server_encoding"))


def rows_of(statement: str, *values: Any) -> list[Any]:
    """Return all rows of a statement that is run seldom."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
        return rows


def count_connections() -> dict[str, int]:
    """Count the connections of all clients to this database by CONNECTION_STATES."""
    counts = dict(rows_of(CONNECTIONS))
    return {state: counts.get(state, 0) for state in CONNECTION_STATES}


def most_connections() -> int:
    """Return max_connections, the server's limit over all its databases."""
    return int(rows_of("SELECT current_setting('max_connections')::integer")[0][0])
