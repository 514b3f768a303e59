import random
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import LockNotAvailable

from core.data.database import ENCODING, encoding_of
from core.watch.doctor import first_line

T = TypeVar("T")

# While we wait for a table, every later request for it queues after us.
LOCK_TIMEOUT_MS = 50
PATIENCE_SECONDS = 600.0
PAUSES_SECONDS = (0.1, 1.0)
CHANGES_A_TABLE = re.compile(r"\b(ALTER|CREATE|DROP|LOCK|TRUNCATE)\b", re.IGNORECASE)
# One round trip to the server, since a lock is held until the last statement of all.
BRIEFLY = f"SET lock_timeout = {LOCK_TIMEOUT_MS};\n{{}}\n;SET lock_timeout = DEFAULT"
LONG = "1 minute"
BEFORE_1_0 = ("companies", "0002_secrets_of_kept_answers")
IN_TRANSACTIONS = """
SELECT pid, left(query, 200) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND xact_start <= now() - %s::interval
ORDER BY xact_start
"""


class Command(migrate.Command):
    """Django's `migrate`, which waits only briefly for a table in use and retries later."""

    def execute(self, *args: Any, **options: Any) -> Any:
        # This must precede Django's own checks, which query the database as well.
        check_database(connections[options["database"]])
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        do = partial(super().handle, *args, **options)
        with brief_waits(connection):
            try_until_free(connection, do, self.tell if options["verbosity"] else None)

    def tell(self) -> None:
        self.stdout.write("\n  A table is in use; trying again.")


def check_database(connection: BaseDatabaseWrapper) -> None:
    """Raise CommandError if the database does not answer, is not UTF8, or predates 1.0.0."""
    try:
        encoding = encoding_of(connection)
    except OperationalError as error:
        raise CommandError(
            f"The database does not answer: {first_line(error)}."
            " Start PostgreSQL or correct DATABASE_URL, and migrate again."
        ) from error
    if encoding != ENCODING:
        raise CommandError(
            f"The database keeps texts in {encoding}, which does not hold those of all languages."
            " Make it anew: createdb --encoding UTF8 --template template0 NAME. Nothing was"
            " migrated."
        )
    if BEFORE_1_0 in MigrationRecorder(connection).applied_migrations():
        raise CommandError(
            "The database was made by a version before 1.0.0, none of which was published."
            " Make a new one: createdb --encoding UTF8 --template template0 NAME. Nothing was"
            " migrated."
        )


def brief_waits(connection: BaseDatabaseWrapper) -> AbstractContextManager[None]:
    """Let statements that change a table wait for it only briefly.

    In a transaction they raise LockNotAvailable, and the caller begins anew. Outside of one they
    are retried by themselves, as earlier statements stay in effect. CONCURRENTLY is not bounded:
    nobody waits for it, and it waits for every open transaction.
    """

    def bounded(
        execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        if "CONCURRENTLY" in sql or not CHANGES_A_TABLE.search(sql):
            return execute(sql, params, many, context)
        do = partial(execute, BRIEFLY.format(sql), params, many, context)
        return do() if connection.in_atomic_block else try_until_free(connection, do)

    return connection.execute_wrapper(bounded)


def try_until_free(
    connection: BaseDatabaseWrapper, do: Callable[[], T], tell: Callable[[], None] | None = None
) -> T:
    """Retry `do` until it gets its locks. Raises CommandError after PATIENCE_SECONDS."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return do()
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            if time.monotonic() > until:
                raise CommandError(in_use_message(connection)) from error
        if tell:
            tell()
        time.sleep(random.uniform(*PAUSES_SECONDS))  # noqa: S311 - no secret


def in_use_message(connection: BaseDatabaseWrapper) -> str:
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
