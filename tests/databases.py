"""Databases to migrate and to compare, on the tests' server."""

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from tools.dev.postgres import BRANCH, WHEEL


class Database:
    """A database next to the tests' one."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def url(self) -> str:
        """URL for DATABASE_URL."""
        address, mark, query = os.environ["DATABASE_URL"].partition("?")
        return f"{address.rpartition('/')[0]}/{self.name}{mark}{query}"

    def access(self) -> dict[str, str]:
        """Environment variables of libpq: the server's address and our account."""
        server = connection.settings_dict
        variables = {
            "PGHOST": server["HOST"],
            "PGPORT": str(server["PORT"]),
            "PGUSER": server["USER"],
            "PGPASSWORD": server["PASSWORD"],
            "PGDATABASE": self.name,
        }
        return {name: value for name, value in variables.items() if value}

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        with self.link() as link:
            return link.execute(statement).fetchall()

    def link(self) -> psycopg.Connection:
        words = {name[2:].lower(): value for name, value in self.access().items()}
        words["dbname"] = words.pop("database")
        return psycopg.connect(**words)


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
    """Find a program, such as pg_dump, that belongs to the server's installation."""
    if folder := os.environ.get("PG_BIN"):
        return str(Path(folder) / name)
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is not None and wheel.origin is not None:
        return str(Path(wheel.origin).parent / BRANCH / "bin" / name)
    return shutil.which(name) or name
