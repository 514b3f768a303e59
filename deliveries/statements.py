"""The engine's own way to PostgreSQL: the same few statements, many times a second."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from django.db import connection


class PreparedCursor(psycopg.Cursor[Any]):
    def execute(
        self,
        query: Any,
        params: Any = None,
        *,
        prepare: bool | None = True,
        binary: bool | None = None,
    ) -> Self:
        """Have PostgreSQL parse and plan a statement once per connection."""
        return super().execute(query, params, prepare=prepare, binary=binary)


@contextmanager
def cursor() -> Iterator[psycopg.Cursor[Any]]:
    """A cursor on Django's connection that sends parameters apart from the statement.

    Django's own writes them into the text, which is parsed and planned anew each time. Errors are
    django.db's.
    """
    connection.ensure_connection()
    # Behind a pooler that hands out another server connection per transaction, a statement that is
    # prepared on one would be looked for on another.
    pooled = connection.settings_dict.get("POOLED", False)
    kind = psycopg.Cursor if pooled else PreparedCursor
    with connection.wrap_database_errors, kind(connection.connection) as prepared:
        yield prepared


# Every statement of the engine has its index, in the order it needs. These are ways to read more
# than is asked for. A loop that a LATERAL asks for is made all the same; what is gone is the one
# that compares each row with each, 200 with 200, where the planner expects one.
DETOURS = ("seqscan", "bitmapscan", "sort", "mergejoin", "nestloop")
PLANNING = {f"enable_{detour}": "off" for detour in DETOURS}
# Planning a claim takes longer than a small claim.
PLANNING["plan_cache_mode"] = "force_generic_plan"


def settle_plans(*, transaction_only: bool = False) -> None:
    """Have plans made once and from the indexes, on this connection or in this transaction alone.

    What the planner knows of the queue may be from when it was empty, with a million rows in it
    now; and then reading all rows of a webhook looks as good to it as reading the first.
    """
    with cursor() as prepared:
        for setting, value in PLANNING.items():
            prepared.execute("SELECT set_config(%s, %s, %s)", [setting, value, transaction_only])
