"""Old rows are deleted automatically: by a setting for each kind, in bounded runs."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import psycopg
import pytest
from axes.models import AccessLog
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from companies.jobs import forget_what_is_old
from companies.models import AuditEntry, Company
from core import retention
from core.data import old_rows
from core.jobs import doorbell
from core.models import FailedRow
from core.watch.doctor import Grade, all_checks, examine
from deliveries import publishing
from deliveries.engine import recording
from deliveries.models import Attempt, Delivery, Event, LoggedAttempt, Replay, State
from deliveries.tasks import run_job
from deliveries.upkeep import partitions, rest_rows
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result
from tickets.models import Agent


def ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


@pytest.fixture
def weeks(company: Company) -> Callable[[int], str]:
    """Return a function that finishes a delivery N weeks ago and returns its partition's day."""
    build.webhook(company)

    def make(weeks_ago: int) -> str:
        monday = partitions.coming_weeks()[0] - timedelta(weeks=weeks_ago)
        with connection.cursor() as cursor:
            cursor.execute("SELECT deliveries_make_partitions(%s, 1)", [monday])
        publishing.publish([build.news(company, weeks_ago)])
        claim = claim_one()
        recording.record_attempts([result(claim, state=State.GIVEN_UP, status=500)])
        then = datetime.fromisoformat(f"{monday}T12:00:00+00:00")
        delivery = Delivery.objects.get(pk=claim.id)
        Event.objects.filter(pk=delivery.event_id).update(created_at=then)
        Delivery.objects.filter(pk=claim.id).update(
            created_at=then, finished_at=then, archived_on=monday
        )
        LoggedAttempt.objects.filter(delivery=delivery).update(started_at=then)
        return f"{monday:%Y%m%d}"

    return make


def exists(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [table])
        return bool(cursor.fetchone()[0])


def logged(days: int, agent: Agent) -> None:
    entry = LogEntry.objects.create(user=agent.user, object_repr="x", action_flag=1)
    LogEntry.objects.filter(pk=entry.pk).update(action_time=ago(days))


def audited(days: int) -> None:
    entry = AuditEntry.objects.create(actor="ada", via="desk", act="drain")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE companies_auditentry DISABLE TRIGGER guarded")
        AuditEntry.objects.filter(pk=entry.pk).update(at=ago(days))
        cursor.execute("ALTER TABLE companies_auditentry ENABLE TRIGGER guarded")


def test_the_task_drops_weeks_and_what_a_day_too_young_stays(
    weeks: Callable[[int], str], company: Company
) -> None:
    old, young = weeks(10), weeks(2)
    # Older than thirty days, and still waiting: its event stays, whatever else is deleted.
    publishing.publish([build.news(company, 7)])
    Event.objects.filter(shipment_id=7).update(created_at=ago(60))
    Delivery.objects.filter(state=State.WAITING).update(created_at=ago(60))

    assert forget_what_is_old() == 0

    assert not exists(f"deliveries_attempt_{old}")
    assert not exists(f"deliveries_delivery_{old}")
    assert exists(f"deliveries_attempt_{young}")
    assert sorted(Delivery.objects.values_list("subject_id", flat=True)) == [2, 7]
    assert Event.objects.filter(shipment_id=7).exists()


def ended_run(ended_at: datetime | None) -> Replay:
    return Replay.objects.create(
        by="root", until=ago(50), state=State.GIVEN_UP, rate=1, total=1, ended_at=ended_at
    )


def test_runs_of_deliveries_sent_again_go_once_they_have_ended(
    company: Company, settings: Settings
) -> None:
    settings.KEEP_DAYS = {**settings.KEEP_DAYS, "deliveries": 30}
    ended_run(ago(31))
    remaining = [ended_run(ago(29)), ended_run(None)]

    forget_what_is_old()

    assert list(Replay.objects.order_by("pk")) == remaining


def test_runs_of_deliveries_sent_again_are_left_to_the_next_sweep_beyond_its_most(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_rows, "STEP", 2)
    monkeypatch.setattr(retention, "MOST_AT_ONCE", 2)
    for _ in range(3):
        ended_run(ago(9000))

    forget_what_is_old()
    assert Replay.objects.count() == 1

    forget_what_is_old()
    assert not Replay.objects.exists()


def test_only_prune_with_days_deletes_a_part_of_a_week(
    weeks: Callable[[int], str], settings: Settings
) -> None:
    weeks(10)
    weeks(5)
    days = (timezone.now() - Delivery.objects.get(subject_id=5).created_at).days
    settings.KEEP_DAYS = {**settings.KEEP_DAYS, "deliveries": days}

    forget_what_is_old()
    call_command("prune")
    assert Delivery.objects.count() == Event.objects.count() == Attempt.objects.count() == 1

    call_command("prune", "--older-than", str(days))
    assert Delivery.objects.count() == Event.objects.count() == Attempt.objects.count() == 0


def test_each_kind_goes_by_its_own_setting(agent: Agent, settings: Settings) -> None:
    settings.KEEP_DAYS = {**settings.KEEP_DAYS, "desk_log": 100, "sign_ins": 0, "audit": 200}
    for days in (99, 101):
        logged(days, agent)
    for days in (199, 201):
        audited(days)
    AccessLog.objects.create(username="ada")
    AccessLog.objects.update(attempt_time=ago(9000))

    forget_what_is_old()

    assert LogEntry.objects.count() == 1
    assert AuditEntry.objects.filter(act="drain").count() == 1
    assert AccessLog.objects.count() == 1
    (entry,) = AuditEntry.objects.filter(act="prune")
    assert (entry.via, entry.details) == ("task", {"desk_log": 1, "audit": 1})


def test_each_setting_has_a_kind_and_each_kind_its_setting_or_an_end(settings: Settings) -> None:
    by_setting = {name for name, kind in retention.all_kinds().items() if not kind.expires}

    assert by_setting == set(settings.KEEP_DAYS)


def test_prune_with_days_spares_the_audit_and_what_is_kept_for_ever(
    agent: Agent, settings: Settings
) -> None:
    settings.KEEP_DAYS = {**settings.KEEP_DAYS, "desk_log": 0}
    logged(500, agent)
    audited(500)

    call_command("prune", "--older-than", "1")

    assert LogEntry.objects.count() == 1
    assert AuditEntry.objects.filter(act="drain").count() == 1


def test_a_run_is_bounded_and_rings_for_the_next(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_rows, "STEP", 2)
    monkeypatch.setattr(retention, "MOST_AT_ONCE", 4)
    rings: list[str] = []
    monkeypatch.setattr(doorbell, "ring_job", lambda name, **_: rings.append(name))
    for _ in range(5):
        logged(400, agent)

    run_job("forget_what_is_old")
    assert rings == ["forget_what_is_old"]
    run_job("forget_what_is_old")
    assert rings == ["forget_what_is_old"]
    assert not LogEntry.objects.exists()


def test_a_kind_that_fails_keeps_no_other(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such disk")

    kinds = retention.all_kinds()
    for name in ("files", "sessions"):
        monkeypatch.setitem(kinds, name, replace(kinds[name], forget=fail))
    logged(500, agent)

    assert forget_what_is_old() == 0

    assert not LogEntry.objects.exists()
    failures = FailedRow.objects.order_by("key").values_list("job", "kind", "key")
    assert list(failures) == [("forget_what_is_old", "old", kind) for kind in ("files", "sessions")]

    logged(500, agent)
    with pytest.raises(CommandError, match="files: no such disk; sessions: no such disk"):
        call_command("prune")
    assert not LogEntry.objects.exists()
    assert "deleted 1 old rows of log entries" in capsys.readouterr().out

    monkeypatch.undo()
    forget_what_is_old()
    assert not FailedRow.objects.exists()


def test_a_week_in_use_fails_the_run_and_doctor_says_so(
    rows_to_keep: None, weeks: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest_rows, "LOCK_TIMEOUT", "10ms")
    old = weeks(10)
    (check,) = (each for each in all_checks() if each.name == "retention")
    words = connection.settings_dict
    with psycopg.connect(host=words["HOST"], user=words["USER"], dbname=words["NAME"]) as reader:
        reader.execute(f"SELECT FROM deliveries_attempt_{old}")
        with pytest.raises(retention.WeeksInUse, match=f"deliveries_attempt_{old}"):
            forget_what_is_old()
        reader.rollback()

    finding = examine(check)
    assert (finding.grade, finding.detail[-8:]) == (Grade.WARN, old)
    forget_what_is_old()
    assert examine(check).grade == Grade.OK
