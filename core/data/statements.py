"""Prepared statements, next to Django's cursors, for the few that run many times a second."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Self

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections

# A quoted string, or the whitespace and comments between words.
BETWEEN = re.compile(r"('(?:[^']|'')*')|(?:\s|--[^\n]*)+")


@lru_cache(maxsize=512)
def compact(statement: str) -> bytes:
    """Strip comments and line breaks from a statement, once for each.

    psycopg parses the placeholders at each execution, unless the text has at most 4,096 bytes; its
    cache lookup is fastest if the text is the same object each time.
    """
    return BETWEEN.sub(lambda match: match[1] or " ", statement).strip().encode()


class PreparingCursor(psycopg.Cursor[Any]):
    """Cursor that sends parameters apart from the statement, and prepares it if `prepared`."""

    prepared = True

    def execute(
        self,
        query: Any,
        params: Any = None,
        *,
        prepare: bool | None = None,
        binary: bool | None = None,
    ) -> Self:
        """Have PostgreSQL parse and plan a statement once per connection."""
        prepare = self.prepared if prepare is None else prepare
        if isinstance(query, str):
            query = compact(query)
        return super().execute(query, params, prepare=prepare, binary=binary)


@contextmanager
def cursor() -> Iterator[PreparingCursor]:
    """Open a cursor on Django's connection that sends parameters apart from the statement.

    Django's own cursor writes them into the text, which is parsed and planned anew each time.
    Errors are those of django.db.
    """
    # Resolved once: the proxy `connection` looks it up at each access of an attribute.
    own = connections[DEFAULT_DB_ALIAS]
    # Django's own cursors check this too: a persistent connection may have died since.
    own.close_if_health_check_failed()
    own.ensure_connection()
    with own.wrap_database_errors, PreparingCursor(own.connection) as opened:
        # With a pooler each transaction may be on another server connection, which does not know
        # the statements that were prepared on the previous one.
        opened.prepared = not own.settings_dict.get("POOLED", False)
        yield opened


def fetch_rows(statement: str, values: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a constant statement, which is prepared; only its values vary."""
    if connection.queries_logged:
        with connection.cursor() as logged:
            logged.execute(statement, values)
            return list(logged.fetchall()) if logged.description else []
    connection.validate_no_broken_transaction()
    with cursor() as prepared:
        prepared.execute(statement, values)
        return prepared.fetchall() if prepared.description else []


def read_rows(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that is composed each time or run seldom; not prepared."""
    with connection.cursor() as opened:
        opened.execute(statement, values)
        rows: list[tuple[Any, ...]] = opened.fetchall()
        return rows


def distinct_values(table: str, column: str, where: str = "TRUE") -> str:
    """Return a statement for the sorted distinct values of a column in rows that match `where`.

    It reads one index entry for each value, however many rows have it.
    """
    return f"""
WITH RECURSIVE each AS (
  (SELECT {column} AS value FROM {table} WHERE {where} ORDER BY {column} LIMIT 1)
  UNION ALL
  SELECT (SELECT {column} FROM {table} WHERE {where} AND {column} > each.value
          ORDER BY {column} LIMIT 1)
  FROM each WHERE each.value IS NOT NULL
)
SELECT value FROM each WHERE value IS NOT NULL
"""  # noqa: S608 - of our own parts
