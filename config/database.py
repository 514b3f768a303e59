"""What every connection to PostgreSQL is told when it is opened."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

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


def prepare_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Set what holds as long as this connection: a receiver of Django's `connection_created`.

    A statement, not the `options` startup parameter, which PgBouncer refuses. RESET therefore
    gives a setting the server's value, not ours.
    """
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS)
