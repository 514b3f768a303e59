"""How connections to PostgreSQL are made, and what each is told when it is opened."""

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
    # Off unless set. Only those of core.data.statements ask for it.
    "prepare_threshold": 0,
}


def connection_settings(address: dict[str, Any]) -> dict[str, Any]:
    """The Django settings of a database, from what its URL says; the URL's own options win.

    Of several servers the one that takes writes is asked, whichever that is when a connection
    begins.
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
  set_config('idle_in_transaction_session_timeout', '60s', false)
"""


# Longer than PostgreSQL lets a statement take: what it ends itself is not ended here.
PATIENCE_SECONDS = 35.0


def wait_at_most(seconds: float = PATIENCE_SECONDS) -> None:
    """Have statements of this process, and of those it forks, fail with OperationalError when the
    server has not answered for so long. Management commands wait for ever.
    """
    connections.settings[DEFAULT_DB_ALIAS]["PATIENCE_SECONDS"] = seconds


def prepare_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Set what holds as long as this connection: a receiver of Django's `connection_created`.

    A statement, not the `options` startup parameter, which PgBouncer refuses. RESET therefore
    gives a setting the server's value, not ours.
    """
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS)


# Of one role's own: PostgreSQL hides from it what the others do.
CONNECTIONS = """
SELECT CASE WHEN state IN ('active', 'idle') THEN state
    WHEN state LIKE 'idle in transaction%%' THEN 'idle_in_transaction' ELSE 'other' END,
  count(*)
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
GROUP BY 1
"""
CONNECTION_STATES = ("active", "idle", "idle_in_transaction", "other")


# What holds the texts of all languages; some of our functions work in nothing else.
ENCODING = "UTF8"


def encoding_of(connection: BaseDatabaseWrapper) -> str:
    """How a database keeps texts, such as UTF8; connects where it has to."""
    connection.ensure_connection()
    return str(connection.connection.info.parameter_status("server_encoding"))


def rows_of(statement: str, *values: Any) -> list[Any]:
    """The rows of a statement that is asked now and then."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
        return rows


def count_connections() -> dict[str, int]:
    """The connections to this database, whoever's, by what they do."""
    found = dict(rows_of(CONNECTIONS))
    return {state: found.get(state, 0) for state in CONNECTION_STATES}


def most_connections() -> int:
    """How many the server takes, of all its databases."""
    return int(rows_of("SELECT current_setting('max_connections')::integer")[0][0])
