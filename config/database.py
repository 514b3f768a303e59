"""What every connection to PostgreSQL is told when it is opened."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper


def prepare_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Turn JIT off for this connection: a receiver of Django's `connection_created`.

    Every statement here is short, and compiling one takes a hundred times as long as running it.
    Before PostgreSQL 18 the planner adds 10^10 to the cost of a plan it was told to avoid, so the
    engine's statements all look expensive enough to compile. A statement, not the `options`
    startup parameter, which PgBouncer refuses.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET jit = off")
