"""Databases to migrate and to compare, on the server of the tests."""

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from devtools.postgres import BRANCH, WHEEL

Row = dict[str, Any]
TABLES = """
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
ORDER BY relname
"""
# By names: a migrate gives the ids in the order in which it comes to the apps.
PERMISSIONS = """
SELECT type.app_label, type.model, permission.codename, permission.name
FROM django_content_type AS type
LEFT JOIN auth_permission AS permission ON permission.content_type_id = type.id
ORDER BY 1, 2, 3
"""


class Database:
    """A database beside the one of the tests."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def url(self) -> str:
        """As DATABASE_URL has it."""
        address, mark, query = os.environ["DATABASE_URL"].partition("?")
        return f"{address.rpartition('/')[0]}/{self.name}{mark}{query}"

    def access(self) -> dict[str, str]:
        """Where the server is and who we are, in the words of libpq's environment."""
        server = connection.settings_dict
        named = {
            "PGHOST": server["HOST"],
            "PGPORT": str(server["PORT"]),
            "PGUSER": server["USER"],
            "PGPASSWORD": server["PASSWORD"],
            "PGDATABASE": self.name,
        }
        return {name: value for name, value in named.items() if value}

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        words = {name[2:].lower(): value for name, value in self.access().items()}
        words["dbname"] = words.pop("database")
        with psycopg.connect(**words) as link:
            return link.execute(statement).fetchall()

    def schema(self) -> list[str]:
        """Everything but rows, as pg_dump writes it: objects by name, columns in their order."""
        dump = subprocess.run(
            [program_of_postgresql("pg_dump"), "--schema-only"],
            env={**os.environ, **self.access()},
            capture_output=True,
            text=True,
            check=True,
        )
        lines = dump.stdout.splitlines()
        # A key that is made up for each dump.
        return [line for line in lines if not line.startswith(("\\restrict", "\\unrestrict"))]

    def rows(self) -> dict[str, list[Row]]:
        """Every row of every table."""
        return {
            table: [row for (row,) in self.ask(f'SELECT to_jsonb(t) FROM "{table}" AS t')]  # noqa: S608
            for (table,) in self.ask(TABLES)
        }

    def permissions(self) -> list[tuple[Any, ...]]:
        return self.ask(PERMISSIONS)


@contextmanager
def new_database(name: str, how: str = "") -> Iterator[Database]:
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} {how}")
    try:
        yield Database(name)
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def program_of_postgresql(name: str) -> str:
    """Find a program, such as pg_dump, that came with the server's."""
    if named := os.environ.get("PG_BIN"):
        return str(Path(named) / name)
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is not None and wheel.origin is not None:
        return str(Path(wheel.origin).parent / BRANCH / "bin" / name)
    return shutil.which(name) or name


def lost(before: list[Row], after: list[Row], *, but: set[str]) -> list[str]:
    """Rows that are not there any more as they were, leaving out the columns of `but`.

    A new column or a new row is no loss; a column that is gone is.
    """
    kept = {name for row in before for name in row} - but

    def told(row: Row) -> str:
        return json.dumps({name: row.get(name, "(no such column)") for name in sorted(kept)})

    return sorted({told(row) for row in before} - {told(row) for row in after})
