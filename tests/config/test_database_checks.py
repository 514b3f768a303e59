"""Each check of `doctor` that asks how PostgreSQL is, the broker, and the rest."""

import shutil
from collections import namedtuple
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from config import database_checks, doctor_checks
from config.management.commands import doctor as command
from core.data import database
from core.models import FailedRow, Mail
from core.watch.doctor import Grade
from deliveries import publishing
from deliveries.engine import leases
from deliveries.models import Delivery, Health, Loop, State
from tests import builders as build
from tests.config.test_doctor import FAIL, OK, WARN, examined, run_doctor

pytestmark = pytest.mark.django_db


def tell(*rows: Any) -> Any:
    """Answer whatever is asked of the database with these rows."""
    return lambda statement, *values: list(rows)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def stranger() -> Iterator[psycopg.Connection[Any]]:
    """Another session of the same database."""
    own = connection.get_connection_params()
    names = ("host", "port", "dbname", "user", "password")
    with psycopg.connect(**{name: own[name] for name in names if own.get(name)}) as other:
        yield other


def test_a_transaction_that_is_open_for_long_is_named(
    stranger: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined("transactions").grade is OK

    stranger.execute("SELECT 1")
    # Within one transaction PostgreSQL tells what it told before.
    execute("SELECT pg_stat_clear_snapshot()")
    monkeypatch.setattr(database_checks, "LONG_SECONDS", 0)

    found = examined("transactions")
    assert found.grade is WARN
    assert f"process {stranger.info.backend_pid} for 0 s (idle in transaction" in found.detail


def test_who_is_blocked_is_named(
    stranger: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined("locks").grade is OK

    monkeypatch.setattr(database_checks, "rows_of", tell(("process 7 waits for 8",)))
    assert examined("locks")[1:3] == (WARN, "1 blocked: process 7 waits for 8")


@pytest.mark.parametrize(
    ("limits", "grade"), [({"MANY_AGES": 0}, WARN), ({"MANY_AGES": 0, "LAST_AGES": 0}, FAIL)]
)
def test_old_transaction_ids_are_said(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], grade: Any
) -> None:
    assert examined("transaction_ids").grade is OK

    for name, value in limits.items():
        monkeypatch.setattr(database_checks, name, value)
    assert examined("transaction_ids").grade is grade


def test_a_table_that_nobody_vacuums_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert examined("vacuum")[1:3] == (OK, "keeps up")

    execute("ALTER TABLE tickets_ticket SET (autovacuum_enabled = off)")
    assert examined("vacuum")[1:3] == (WARN, "autovacuum is switched off for tickets_ticket")

    execute("ALTER TABLE tickets_ticket RESET (autovacuum_enabled)")
    monkeypatch.setattr(database_checks, "MANY_DEAD", 0)
    monkeypatch.setattr(database_checks, "DEAD_SHARE", 0)
    assert examined("vacuum").detail.startswith("autovacuum is behind: ")


def test_connections_that_run_out_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert examined("connections_left").grade is OK

    monkeypatch.setattr(database_checks, "FEW_LEFT", 1)
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
        return [slot] if statement is database_checks.SLOTS_BEHIND else [(False,)]

    monkeypatch.setattr(database_checks, "rows_of", rows)
    assert examined("replication_slots").grade is grade


@pytest.mark.parametrize(("free", "grade"), [(50, OK), (10, WARN), (2, FAIL)])
def test_the_room_beside_the_database_is_said(
    monkeypatch: pytest.MonkeyPatch, free: int, grade: Any
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100 * 2**20, 1, free * 2**20))

    found = examined("database_size")
    assert (found.grade, f", {free} MiB free" in found.detail) == (grade, True)


def test_a_server_on_another_host_tells_its_size_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_checks, "DATA_FOLDER", "SELECT '/no/such/folder'")

    assert "not ours to see" in examined("database_size").detail


def test_memory_that_was_never_set_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_checks, "DEFAULT_BUFFERS", 1024**4)
    assert examined("database_memory").grade is OK

    monkeypatch.setattr(database_checks, "LARGE_DATABASE", 0)
    assert examined("database_memory").grade is WARN


def test_a_server_that_may_forget_is_said_in_production(settings: Settings) -> None:
    settings.ENVIRONMENT = "test"
    assert examined("durability").grade is OK

    settings.ENVIRONMENT = "production"
    execute("SET LOCAL synchronous_commit = off")
    found = examined("durability")
    assert (found.grade, "synchronous_commit" in found.detail) == (WARN, True)


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
def test_a_broker_that_throws_away_is_said(
    monkeypatch: pytest.MonkeyPatch, memory: dict[str, Any], grade: Any
) -> None:
    assert examined("broker_memory").grade is OK

    with doctor_checks.current_app.connection_for_write() as link:
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


def failing_webhook(company: Company, host: str, *, hours: float, failures: int = 3) -> None:
    webhook = build.webhook(company, url=f"https://{host}.example/hook")
    since = timezone.now() - timedelta(hours=hours)
    Health.objects.create(webhook=webhook, failures=failures, failing_since=since)


def well_webhook(company: Company, host: str, *, hours: float) -> None:
    """Make a webhook whose newest delivery was stored so many hours ago and taken."""
    webhook = build.webhook(company, url=f"https://{host}.example/hook")
    publishing.publish([build.news(company)])
    stored = timezone.now() - timedelta(hours=hours)
    own = Delivery.objects.filter(webhook=webhook)
    own.update(state=State.DELIVERED, created_at=stored, archived_on=stored.date())
    Delivery.objects.exclude(webhook=webhook).open().delete()


def test_receivers_that_fail_all_at_once_are_our_affair(company: Company) -> None:
    for number in range(5):
        failing_webhook(company, str(number), hours=1, failures=1)
    assert examined("receivers")[1:3] == (WARN, "5 of 5 began to fail within a day")

    for number in range(5, 10):
        well_webhook(company, str(number), hours=0.1)
    assert examined("receivers").grade is OK


def test_receivers_that_get_nothing_are_not_well(company: Company) -> None:
    """A quiet service: most webhooks have had nothing since, or had it before the outage."""
    for number in range(5):
        failing_webhook(company, str(number), hours=1)
    for number in range(5, 15):
        build.webhook(company, url=f"https://{number}.example/hook")
    for number in range(15, 25):
        well_webhook(company, str(number), hours=3)

    assert examined("receivers").grade is WARN


@pytest.mark.parametrize(("failures", "grade"), [(2, OK), (3, WARN)])
def test_the_only_receivers_of_a_small_service(
    company: Company, failures: int, grade: Grade
) -> None:
    failing_webhook(company, "a", hours=0.1, failures=failures)
    failing_webhook(company, "b", hours=0.1, failures=failures)

    assert examined("receivers").grade is grade


def test_receivers_that_went_down_one_by_one_are_their_own_affair(company: Company) -> None:
    """A night: each of six has been down for hours, and few others got anything since the last."""
    for number in range(6):
        failing_webhook(company, str(number), hours=number * 3 + 0.5)
    for number in range(6, 13):
        well_webhook(company, str(number), hours=4)

    assert examined("receivers").grade is OK


def test_loops_that_die_again_and_again_are_seen(db: None) -> None:
    for _ in range(2):
        leases.join(9)
    Loop.objects.update(lease_until=timezone.now() - timedelta(seconds=9))
    leases.take_over()
    assert examined("engine_restarts").grade is OK

    leases.join(9)
    Loop.objects.update(lease_until=timezone.now() - timedelta(seconds=9))
    leases.take_over()
    assert examined("engine_restarts")[1:3] == (
        WARN,
        "3 loops died within two minutes, on 1 hosts",
    )


def test_an_old_bundle_of_authorities_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    authorities = [{"notAfter": f"Jan  1 00:00:00 {year} GMT"} for year in (2020, 2999)]
    context = SimpleNamespace(
        load_verify_locations=lambda path: None, get_ca_certs=lambda: authorities
    )
    monkeypatch.setattr("ssl.SSLContext", lambda protocol: context)

    assert examined("outgoing_tls")[1:3] == (
        WARN,
        "1 of 2 authorities have expired: an old bundle",
    )


def test_only_those_that_are_named_are_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.data.database.wait_at_most", lambda seconds: None)

    _, text = run_doctor("--only", "outgoing_tls", "open_files")

    assert {line.split()[1] for line in text.splitlines() if line[0] != " "} == {
        "outgoing_tls",
        "open_files",
    }
    with pytest.raises(CommandError, match="There is no check clok"):
        command.chosen_checks(["clok"])
