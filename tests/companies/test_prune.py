"""`prune`: all tables that grow are pruned in short steps."""

from datetime import UTC, datetime, time, timedelta
from io import StringIO
from secrets import token_hex

import psycopg
import pytest
from axes.models import AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company, KeptAnswer
from core.data import old_rows
from deliveries import publishing
from deliveries.engine import recording
from deliveries.models import Delivery, Event
from deliveries.upkeep import partitions, pruning, rest_rows
from shipments.models import Shipment, TrackingUpdate
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result
from tickets.models import Agent, Notification, Watch
from tickets.statuses import By, Status


def prune(*options: str, days: int = 30) -> list[str]:
    out = StringIO()
    call_command("prune", "--older-than", str(days), *options, stdout=out)
    return out.getvalue().splitlines()


def ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def count(*models: type[Model]) -> list[int]:
    return [model._base_manager.count() for model in models]


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_rows, "STEP", 2)
    monkeypatch.setattr(pruning, "PAGES", 1)
    monkeypatch.setattr(pruning, "WEBHOOKS_AT_ONCE", 1)


def updates(company: Company, shipment_id: int, *days: int) -> None:
    Shipment.objects.create(
        pk=shipment_id,
        company=company,
        tracking_number=f"T{shipment_id}",
        carrier_name="acme",
        created_at=ago(90),
    )
    for number, old in enumerate(days):
        TrackingUpdate.objects.create(
            shipment_id=shipment_id,
            digest=bytes([number]),
            status="x",
            occurred_at=ago(old),
            day=ago(old).date(),
        )


def test_deletes_updates_of_inactive_shipments(company: Company, small_steps: None) -> None:
    updates(company, 1, 50, 45, 40, 35, 31)
    updates(company, 2, 50, 45, 29)
    updates(company, 3, 50, 45)
    build.ticket(company, shipment_id=3)
    updates(company, 4, 50)
    build.ticket(company, shipment_id=4, status=Status.ACCEPTED)
    updates(company, 5, 2)

    rest = "shipments_trackingupdate_rest"
    rehearsed = prune("--dry-run")
    assert "would keep 4 old tracking updates that are still needed" in rehearsed
    assert f"would delete 10 rows of {rest}" in rehearsed
    assert TrackingUpdate.objects.count() == 12
    lines = prune()
    assert "kept 4 old tracking updates that are still needed" in lines
    assert f"deleted 6 rows of {rest}" in lines

    remaining = TrackingUpdate.objects.values_list("shipment_id", flat=True)
    assert sorted(remaining) == [2, 2, 2, 3, 3, 5]
    assert Shipment.objects.count() == 5


def test_forgets_logs_sessions_and_kept_answers(
    company: Company, agent: Agent, small_steps: None
) -> None:
    for days in (50, 45, 40, 35, 1):
        LogEntry.objects.create(user=agent.user, object_repr="x", action_flag=1)
        LogEntry.objects.order_by("pk").filter(
            action_time__gt=ago(0) - timedelta(minutes=5)
        ).update(action_time=ago(days))
        for log in (AccessLog, AccessFailureLog):
            row = log.objects.create(username="ada")
            log.objects.filter(pk=row.pk).update(attempt_time=ago(days))
        Session.objects.create(session_key=f"k{days}", expire_date=ago(days - 2))
        created_at = ago(days) + timedelta(hours=1)
        KeptAnswer.objects.create(
            company=company, key=f"{days}", status=200, body={}, created_at=created_at
        )
    models = (LogEntry, AccessLog, AccessFailureLog, Session, KeptAnswer)

    rehearsed = prune("--dry-run")
    assert count(*models) == [5, 5, 5, 5, 5]

    assert [line.replace("would delete", "deleted") for line in rehearsed] == prune()
    assert count(*models) == [1, 1, 1, 1, 1]


@pytest.fixture
def old_week(company: Company) -> str:
    """Create an old partition of events with three rows; returns its name."""
    build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    for _ in range(3):
        recording.record_attempts([result(claim_one())])
    monday = partitions.coming_weeks()[0] - timedelta(weeks=10)
    for table in partitions.TABLES:
        rest_rows.make_week(table, monday)
    then = datetime.fromisoformat(f"{monday}T12:00:00+00:00")
    Event.objects.update(created_at=then)
    Delivery.objects.update(created_at=then, finished_at=then, archived_on=monday)
    return f"deliveries_event_{monday:%Y%m%d}"


def test_drops_whole_weeks_without_counting_them(old_week: str, small_steps: None) -> None:
    with CaptureQueriesContext(connection) as captured:
        lines = prune()

    assert any(line.startswith(f"dropped {old_week}, about ") for line in lines)
    assert not Event.objects.exists()
    reading = [
        query["sql"]
        for query in captured
        if "count(*)" in query["sql"].lower() and "deliveries_" in query["sql"]
    ]
    assert reading == []


def test_every_statement_about_deliveries_is_bounded(
    company: Company, old_week: str, small_steps: None
) -> None:
    """Bound each statement by pages, webhooks or a name: nothing reads a whole partition."""
    with CaptureQueriesContext(connection) as captured:
        prune(days=1)

    bounds = ("ctid >=", "LIMIT", "DROP TABLE", "pg_inherits", "pg_relation_size", "LOCK")
    about = [query["sql"] for query in captured if "deliveries_" in query["sql"]]
    assert about
    assert [each for each in about if not any(bound in each for bound in bounds)] == []


def test_deletes_the_part_of_a_week_page_by_page(company: Company, small_steps: None) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, n, body=token_hex(600).encode()) for n in range(20)])
    # Both times lie in the week of the partition: two hours ago may be last week on a Monday.
    monday = datetime.combine(partitions.coming_weeks()[0], time(tzinfo=UTC))
    before = monday + timedelta(hours=2)
    Event.objects.update(created_at=before + timedelta(hours=1))
    Event.objects.filter(shipment_id__lt=15).update(created_at=before - timedelta(hours=1))
    lines: list[str] = []
    progress: list[str] = []

    log = pruning.EVENTS
    for dry_run in (True, False):
        pruning.prune_log(log, before, pruning.PruneRun(lines.append, progress.append, dry_run))

    deleted = [int(line.partition("delete")[2].split()[-4]) for line in lines if "delete" in line]
    assert sum(deleted) == 30
    assert Event.objects.count() == 5
    assert len(progress) > 4
    assert any(line.endswith(" 100 %") for line in progress)


def test_keeps_the_events_of_a_delivery_that_is_kept(old_week: str, small_steps: None) -> None:
    first = Delivery.objects.order_by("event_id")[0]
    Delivery.objects.filter(pk=first.pk).update(
        finished_at=timezone.now(), archived_on=timezone.now().date()
    )

    prune()

    assert Delivery.objects.get() == first
    assert Event.objects.filter(pk=first.event_id).exists()


def test_a_week_in_use_is_left_to_the_next_run(
    rows_to_keep: None, old_week: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest_rows, "LOCK_TIMEOUT", "10ms")
    words = connection.settings_dict
    with psycopg.connect(host=words["HOST"], user=words["USER"], dbname=words["NAME"]) as reader:
        reader.execute(f"SELECT FROM {old_week}")
        kept_lines = [line for line in prune() if line.startswith(f"kept {old_week}, ")]
        reader.rollback()

    assert len(kept_lines) == 1
    assert any(line.startswith(f"dropped {old_week}") for line in prune())


def test_shows_progress_on_a_terminal(company: Company, old_week: str) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    watched, piped = Terminal(), StringIO()
    for out in (watched, piped):
        call_command("prune", "--older-than", "30", "--dry-run", stdout=out)

    assert "looking for the oldest delivery: webhook " in watched.getvalue()
    assert "looking for" not in piped.getvalue()
    assert "\033" not in piped.getvalue()


def test_watches_of_decided_tickets_are_deleted(company: Company, agent: Agent) -> None:
    for decided_at in (None, ago(29), ago(31), ago(31)):
        status = Status.ACCEPTED if decided_at else Status.PENDING
        ticket = build.ticket(company, status=status, decided_at=decided_at)
        Watch.objects.create(ticket=ticket, agent=agent, created_at=ago(90))

    assert "would delete 2 watches of decided tickets" in prune("--dry-run")
    assert count(Watch) == [4]
    assert "deleted 2 watches of decided tickets" in prune()
    assert count(Watch) == [2]


def test_old_notifications_are_forgotten(company: Company, agent: Agent) -> None:
    for days in (29, 31, 40):
        Notification.objects.create(
            recipient=agent.user,
            ticket=build.ticket(company),
            kind=Notification.Kind.LATE,
            by=By.SYSTEM,
            created_at=ago(days),
        )

    assert "would delete 2 notifications" in prune("--dry-run")
    assert count(Notification) == [3]
    assert "deleted 2 notifications" in prune()
    assert count(Notification) == [1]
