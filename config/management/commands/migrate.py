import random
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import LockNotAvailable

# Whoever needs a table while we wait for it waits behind us.
LOCK_TIMEOUT_MS = 50
PATIENCE_SECONDS = 600.0
PAUSES_SECONDS = (0.1, 1.0)
CHANGES_A_TABLE = re.compile(r"\b(ALTER|CREATE|DROP|LOCK|TRUNCATE)\b", re.IGNORECASE)
LONG = "1 minute"
IN_TRANSACTIONS = """
SELECT pid, left(query, 200) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND xact_start <= now() - %s::interval
ORDER BY xact_start
"""


class Command(migrate.Command):
    """Django's own, which waits briefly for a table that is in use and tries again later."""

    def handle(self, *args: Any, **options: Any) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        connection = connections[options["database"]]
        with brief_waits(connection):
            while True:
                try:
                    super().handle(*args, **options)
                    return
                except OperationalError as error:
                    if not isinstance(error.__cause__, LockNotAvailable):
                        raise
                    if time.monotonic() > until:
                        raise CommandError(gave_up(connection)) from error
                if options["verbosity"] >= 1:
                    self.stdout.write("\n  A table is in use; trying again.")
                time.sleep(random.uniform(*PAUSES_SECONDS))  # noqa: S311 - no secret


def brief_waits(connection: BaseDatabaseWrapper) -> AbstractContextManager[None]:
    """Statements that change a table raise LockNotAvailable instead of waiting for it for long.

    Not those that do their work CONCURRENTLY: nobody waits behind them, and they wait for every
    transaction there is.
    """

    def bounded(
        execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        if "CONCURRENTLY" in sql or not CHANGES_A_TABLE.search(sql):
            return execute(sql, params, many, context)
        # Below the wrapper. Where the statement fails, rolling back undoes the first of the two.
        context["cursor"].cursor.execute(f"SET lock_timeout = {LOCK_TIMEOUT_MS}")
        done = execute(sql, params, many, context)
        context["cursor"].cursor.execute("SET lock_timeout = DEFAULT")
        return done

    return connection.execute_wrapper(bounded)


def gave_up(connection: BaseDatabaseWrapper) -> str:
    with connection.cursor() as cursor:
        cursor.execute(IN_TRANSACTIONS, [LONG])
        long = [f"process {pid}: {query}" for pid, query in cursor.fetchall()]
    return "\n".join(
        [
            f"A table was in use for {PATIENCE_SECONDS / 60:g} minutes. What is migrated so far is"
            " kept; end these transactions, and migrate again:",
            *(long or [f"none is older than {LONG}"]),
        ]
    )
