"""`migrate` next to a working service: a migration that waits for a table blocks others."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate as django_migrate
from django.db import OperationalError, connection, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.errors import LockNotAvailable

from core.management.commands import migrate
from tests.databases import new_database

ROOT = Path(__file__).resolve().parent.parent.parent
ALTER = "ALTER TABLE webhooks_webhook ADD COLUMN extra integer"


@pytest.fixture
def reader(rows_to_keep: None) -> Iterator[DatabaseWrapper]:
    """Yield a connection in a transaction that has read the webhooks."""
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM webhooks_webhook")
    yield other
    other.close()


def test_a_change_of_a_table_in_use_is_given_up_at_once(reader: DatabaseWrapper) -> None:
    with (
        pytest.raises(OperationalError) as refused,
        migrate.brief_waits(connection),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(ALTER)

    assert isinstance(refused.value.__cause__, LockNotAvailable)
    assert lock_timeout() == "0"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE webhooks_webhook SET active = active",
        "CREATE INDEX CONCURRENTLY extra ON webhooks_webhook (active)",
    ],
)
def test_row_changes_and_concurrent_statements_may_wait(db: None, statement: str) -> None:
    statements: list[str] = []
    with (
        migrate.brief_waits(connection),
        connection.execute_wrapper(lambda _, sql, *rest: statements.append(sql)),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
        cursor.execute(ALTER)

    assert [each.splitlines()[0] for each in statements] == [statement, "SET lock_timeout = 50;"]


def test_a_change_of_a_table_leaves_later_statements_their_patience(db: None) -> None:
    with migrate.brief_waits(connection), connection.cursor() as cursor:
        cursor.execute(ALTER)
        cursor.execute("SELECT extra FROM webhooks_webhook")

    assert lock_timeout() == "0"


def lock_timeout() -> str:
    """Read it past the wrapper that watches statements."""
    assert connection.connection is not None
    row = connection.connection.execute("SHOW lock_timeout").fetchone()
    return str(row[0])


def test_tries_again_until_the_table_is_free(
    reader: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = []

    def change_a_table(*_: Any, **__: Any) -> None:
        tries.append(1)
        if len(tries) == 3:
            reader.rollback()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ALTER)
            transaction.set_rollback(True)

    monkeypatch.setattr(django_migrate.Command, "handle", change_a_table)
    monkeypatch.setattr(migrate, "PAUSES_SECONDS", (0, 0))

    call_command("migrate", skip_checks=True)

    assert len(tries) == 3
    assert capsys.readouterr().out.split("\n  ")[1:] == ["A table is in use; trying again.\n"] * 2


def test_a_statement_outside_a_transaction_is_tried_again_by_itself(
    rows_to_keep: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retry this statement alone: earlier ones of its migration are committed already."""
    other = connection.copy()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE in_use ()")
    other.set_autocommit(False)
    with other.cursor() as reading:
        reading.execute("SELECT count(*) FROM in_use")
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        assert lock_timeout() == "0"
        other.close()

    monkeypatch.setattr(migrate, "time", SimpleNamespace(sleep=pause, monotonic=time.monotonic))
    try:
        with migrate.brief_waits(connection), connection.cursor() as cursor:
            cursor.execute("ALTER TABLE in_use ADD COLUMN extra integer")
            cursor.execute("SELECT extra FROM in_use")
        assert len(pauses) == 1
    finally:
        other.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE in_use")


def test_names_the_session_that_holds_a_table_for_too_long(
    reader: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change_a_table(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(ALTER)

    monkeypatch.setattr(django_migrate.Command, "handle", change_a_table)
    monkeypatch.setattr(migrate, "PATIENCE_SECONDS", 0)
    monkeypatch.setattr(migrate, "LONG", "0 seconds")

    with pytest.raises(CommandError) as refused:
        call_command("migrate", skip_checks=True)

    assert "end these transactions, and migrate again:" in str(refused.value)
    assert "SELECT count(*) FROM webhooks_webhook" in str(refused.value)


def test_other_database_errors_are_reported(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: Any, **__: Any) -> None:
        raise OperationalError("the server is gone")

    monkeypatch.setattr(django_migrate.Command, "handle", break_down)

    with pytest.raises(OperationalError, match="the server is gone"):
        call_command("migrate", skip_checks=True)


def run_migrate(url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_database_that_does_not_hold_every_text_is_refused(transactional_db: None) -> None:
    """Use a database like createdb's with no locale set."""
    with new_database("ascii", "ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0") as database:
        result = run_migrate(database.url)
        tables = database.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")

    assert (result.returncode, tables) == (1, [(0,)])
    assert result.stderr == (
        "CommandError: The database keeps texts in SQL_ASCII, which does not hold those of all"
        " languages. Make it anew: createdb --encoding UTF8 --template template0 NAME. Nothing was"
        " migrated.\n"
    )


def test_a_database_of_before_the_first_version_is_refused(transactional_db: None) -> None:
    with new_database("before_1_0") as database:
        with database.link() as link:
            link.execute(
                "CREATE TABLE django_migrations AS SELECT 1 AS id, 'companies' AS app,"
                " '0002_secrets_of_kept_answers' AS name, now() AS applied"
            )
        ran = run_migrate(database.url)

    assert ran.returncode != 0
    assert "made by a version before 1.0.0" in ran.stderr
    assert "createdb" in ran.stderr


def test_a_database_that_is_away_is_said_in_a_sentence() -> None:
    run = run_migrate("postgres://nobody@127.0.0.1:9/none")

    assert run.returncode == 1
    assert run.stderr.startswith("CommandError: The database does not answer: connection failed:")
    assert run.stderr.endswith("Start PostgreSQL or correct DATABASE_URL, and migrate again.\n")
    assert run.stderr.count("\n") == 1
