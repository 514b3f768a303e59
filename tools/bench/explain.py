"""Execution plans of statements."""

from typing import Any

from django.db import transaction

from deliveries import statements


def plan(statement: str, values: dict[str, Any] | None) -> str:
    """Return the EXPLAIN ANALYZE output of a statement, and roll back its changes."""
    with transaction.atomic():
        with statements.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", values)
            text = "\n".join(line for (line,) in cursor.fetchall())
        transaction.set_rollback(True)
    return text
