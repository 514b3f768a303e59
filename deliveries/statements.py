"""The engine's own way to PostgreSQL: the same few statements, many times a second."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from django.db import connection


class EngineCursor(psycopg.Cursor[Any]):
    """Sends parameters apart from the statement, which is prepared unless `prepared` is false."""

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
        return super().execute(query, params, prepare=prepare, binary=binary)


@contextmanager
def cursor() -> Iterator[EngineCursor]:
    """A cursor on Django's connection that sends parameters apart from the statement.

    Django's own writes them into the text, which is parsed and planned anew each time. Errors are
    django.db's.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, EngineCursor(connection.connection) as opened:
        # Behind a pooler each transaction may be on another server connection, and what is
        # prepared on one is not known to the others.
        opened.prepared = not connection.settings_dict.get("POOLED", False)
        yield opened


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
