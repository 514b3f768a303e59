"""Checks of `doctor` about PostgreSQL, the broker and other parts."""

import shutil
from collections import namedtuple
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from core.data import database
from core.health import broker, postgresql
from core.models import FailedRow, Mail
from tests.core.test_doctor import FAIL, OK, WARN, examined

pytestmark = pytest.mark.django_db


def tell(*rows: Any) -> Any:
    """Answer each query of the database with these rows."""
    return lambda statement, *values: list(rows)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def stranger() -> Iterator[psycopg.Connection[Any]]:
    """Yield another session of the same database."""
    own = connection.get_connection_params()
    names = ("host", "port", "dbname", "user", "password")
    with psycopg.connect(**{name: own[name] for name in names if own.get(name)}) as other:
        yield other


def test_a_transaction_that_is_open_for_long_is_named(
    stranger: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined("transactions").grade is OK

    stranger.execute("SELECT 1")
    # Within a transaction PostgreSQL repeats its first snapshot of statistics.
    execute("SELECT pg_stat_clear_snapshot()")
    monkeypatch.setattr(postgresql, "LONG_SECONDS", 0)

    finding = examined("transactions")
    assert finding.grade is WARN
    assert f"process {stranger.info.backend_pid} for 0 s (idle in transaction" in finding.detail


def test_blocked_session_is_named(
    stranger: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined("locks").grade is OK

    monkeypatch.setattr(postgresql, "rows_of", tell(("process 7 waits for 8",)))
    assert examined("locks")[1:3] == (WARN, "1 blocked: process 7 waits for 8")


@pytest.mark.parametrize(
    ("limits", "grade"), [({"MANY_AGES": 0}, WARN), ({"MANY_AGES": 0, "LAST_AGES": 0}, FAIL)]
)
def test_old_transaction_ids_are_said(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], grade: Any
) -> None:
    assert examined("transaction_ids").grade is OK

    for name, value in limits.items():
        monkeypatch.setattr(postgresql, name, value)
    assert examined("transaction_ids").grade is grade


def test_a_table_that_nobody_vacuums_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert examined("vacuum")[1:3] == (OK, "keeps up")

    execute("ALTER TABLE tickets_ticket SET (autovacuum_enabled = off)")
    assert examined("vacuum")[1:3] == (WARN, "autovacuum is switched off for tickets_ticket")

    execute("ALTER TABLE tickets_ticket RESET (autovacuum_enabled)")
    monkeypatch.setattr(postgresql, "MANY_DEAD", 0)
    monkeypatch.setattr(postgresql, "DEAD_SHARE", 0)
    assert examined("vacuum").detail.startswith("autovacuum is behind: ")


def test_connections_that_run_out_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert examined("connections_left").grade is OK

    monkeypatch.setattr(postgresql, "FEW_LEFT", 1)
    assert examined("connections_left").grade is WARN

    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    execute(f"ALTER DATABASE {name} CONNECTION LIMIT 1")
    assert examined("connections_left").grade is FAIL


@pytest.mark.parametrize(
    ("slot", "grade"),
    [
        (("standby", True, 1024), OK),
        (("standby", True, 2 * 1024**3), WARN),
        (("forgotten", False, 1024), WARN),
        (("forgotten", False, 20 * 1024**3), FAIL),
    ],
)
def test_wal_that_a_slot_holds_is_said(
    monkeypatch: pytest.MonkeyPatch, slot: tuple[str, bool, int], grade: Any
) -> None:
    assert examined("replication_slots")[1:3] == (OK, "there are none")

    def rows(statement: str, *values: Any) -> list[Any]:
        return [slot] if statement is postgresql.SLOTS_BEHIND else [(False,)]

    monkeypatch.setattr(postgresql, "rows_of", rows)
    assert examined("replication_slots").grade is grade


@pytest.mark.parametrize(("free", "grade"), [(50, OK), (10, WARN), (2, FAIL)])
def test_free_space_next_to_the_database_is_reported(
    monkeypatch: pytest.MonkeyPatch, free: int, grade: Any
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100 * 2**20, 1, free * 2**20))

    finding = examined("database_size")
    assert (finding.grade, f", {free} MiB free" in finding.detail) == (grade, True)


def test_a_server_on_another_host_tells_its_size_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "DATA_FOLDER", "SELECT '/no/such/folder'")

    assert "not ours to see" in examined("database_size").detail


def test_memory_that_was_never_set_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "DEFAULT_BUFFERS", 1024**4)
    assert examined("database_memory").grade is OK

    monkeypatch.setattr(postgresql, "LARGE_DATABASE", 0)
    assert examined("database_memory").grade is WARN


def test_server_without_durability_is_reported_in_production(settings: Settings) -> None:
    settings.ENVIRONMENT = "test"
    assert examined("durability").grade is OK

    settings.ENVIRONMENT = "production"
    execute("SET LOCAL synchronous_commit = off")
    finding = examined("durability")
    assert (finding.grade, "synchronous_commit" in finding.detail) == (WARN, True)


def test_connections_without_timeouts_are_said() -> None:
    database.prepare_connection(connection)
    assert examined("timeouts").grade is OK

    execute("SET LOCAL statement_timeout = 0")
    assert examined("timeouts")[1:3] == (WARN, "our connections have none: statement_timeout")


@pytest.mark.parametrize(
    ("memory", "grade"),
    [
        ({"used_memory": 5, "maxmemory": 0}, OK),
        ({"used_memory": 5, "maxmemory": 100, "maxmemory_policy": "noeviction"}, OK),
        ({"used_memory": 95, "maxmemory": 100, "maxmemory_policy": "noeviction"}, WARN),
        ({"used_memory": 5, "maxmemory": 100, "maxmemory_policy": "allkeys-lru"}, WARN),
    ],
)
def test_broker_that_evicts_keys_is_reported(
    monkeypatch: pytest.MonkeyPatch, memory: dict[str, Any], grade: Any
) -> None:
    assert examined("broker_memory").grade is OK

    with broker.current_app.connection_for_write() as link:
        client = type(link.default_channel.client)
    monkeypatch.setattr(client, "info", lambda self, section: memory)
    assert examined("broker_memory").grade is grade


def test_failed_rows_are_counted(db: None) -> None:
    assert examined("failed_rows").grade is OK

    FailedRow.objects.create(job="assign", kind="ticket", key="7", error="x")
    assert examined("failed_rows")[1:3] == (WARN, "1 of assign")


def test_emails_that_wait_are_counted() -> None:
    now = timezone.now()
    mail = Mail.objects.create(
        address="a@b.example", subject="x", text="x", created_at=now, due_at=now
    )
    assert examined("emails").grade is OK

    Mail.objects.filter(pk=mail.pk).update(created_at=now - timedelta(hours=1))
    assert examined("emails")[1:3] == (WARN, "1 have waited for more than 0:30:00")
