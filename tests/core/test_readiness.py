import re
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companies import services
from companies.models import Company, PlatformToken
from core import doctor_checks as core_checks
from core.health import broker, postgresql
from core.jobs.job import all_jobs
from core.models import Pulse
from deliveries import doctor_checks as delivery_checks
from deliveries import publishing
from deliveries.engine import leases
from deliveries.models import Delivery, Health
from deliveries.monitoring import backlog
from deliveries.upkeep import partitions
from deliveries.upkeep.partitions import PartitionState
from tests import builders as build
from tickets import jobs


def pulse(age: timedelta = timedelta(0)) -> None:
    Pulse.objects.update_or_create(name="sweep", defaults={"begun_at": timezone.now() - age})


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Freeze the instant of the readiness checks, however long they take."""
    now = timezone.now()
    for module in (core_checks, delivery_checks):
        monkeypatch.setattr(module, "timezone", SimpleNamespace(now=lambda: now))
    return now


def test_tells_how_long_ago_the_platform_fed(client: Client, db: None) -> None:
    assert b"platform_feed_age" not in client.get("/metrics").content
    services.issue_platform_token()
    PlatformToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=7))

    lines = client.get("/metrics").content.decode().splitlines()

    (age,) = [line.split()[1] for line in lines if line.startswith("parceldesk_platform_feed_age")]
    assert 420 <= float(age) < 480


def test_liveness_queries_nothing(client: Client) -> None:
    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("host", ["10.1.2.3", "[::1]:8000", "elsewhere.example", "a_b", ""])
def test_is_alive_whatever_the_host_header_says(
    client: Client, settings: Settings, host: str
) -> None:
    settings.ALLOWED_HOSTS = ["desk.example.com"]
    settings.SECURE_SSL_REDIRECT = True

    answer = client.get("/healthz", HTTP_HOST=host)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert client.get("/webhooks", HTTP_HOST=host, secure=True).status_code == 400


@pytest.mark.parametrize("path", ["/readyz", "/metrics"])
@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("10.1.2.3", True),
        ("127.0.0.1:8001", True),
        ("[fd00::1]:8000", True),
        ("[fd00::1]", True),
        ("web:8000", True),
        ("localhost", True),
        ("desk.example.com", True),
        # An operator may open a page whose name resolves to our address.
        ("10.1.2.3.elsewhere.example", False),
        ("elsewhere.example:8001", False),
        ("elsewhere.example.", False),
        ("[elsewhere.example]", False),
        ("a b", False),
        ("", False),
    ],
)
def test_tells_what_is_inside_by_address(
    client: Client, db: None, settings: Settings, path: str, host: str, allowed: bool
) -> None:
    settings.ALLOWED_HOSTS = ["desk.example.com"]
    settings.SECURE_SSL_REDIRECT = True
    pulse()

    assert client.get(path, HTTP_HOST=host).status_code == (200 if allowed else 400)
    assert client.post(path, HTTP_HOST="10.1.2.3").status_code == 400
    assert client.get("/webhooks", HTTP_HOST="10.1.2.3", secure=True).status_code == 400


def test_is_ready_when_every_part_works(client: Client, db: None) -> None:
    pulse()

    answer = client.get("/readyz")

    assert answer.status_code == 200, answer.json()
    assert answer.json()["status"] == "ready"
    assert list(answer.json()["checks"]) == [
        "database",
        "database_disk",
        "migrations",
        "broker",
        "jobs",
        "scheduler",
        "oldest_due_delivery",
        "weeks_ahead",
        "outgoing_proxy",
    ]


def test_says_which_part_is_away(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: object) -> None:
        raise ConnectionRefusedError("Connection refused\nwith details")

    monkeypatch.setattr(broker.current_app, "connection_for_write", away)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["broker"] == {"ok": False, "detail": "Connection refused"}
    assert answer.json()["checks"]["scheduler"]["detail"].startswith("no job has run yet")
    assert answer.json()["checks"]["database"]["ok"]


def test_failed_readiness_is_not_logged(
    client: Client, db: None, caplog: pytest.LogCaptureFixture
) -> None:
    Pulse.objects.all().delete()

    assert client.get("/readyz").status_code == 503

    assert caplog.messages == []


def test_is_not_ready_when_no_scheduler_is_alive(client: Client, db: None, now: datetime) -> None:
    Pulse.objects.update_or_create(name="sweep", defaults={"begun_at": now - timedelta(minutes=1)})

    check = client.get("/readyz").json()["checks"]["scheduler"]
    assert "no scheduler has begun a sweep for 60 s" in check["detail"]


def test_is_not_ready_when_deliveries_pile_up(
    client: Client, company: Company, now: datetime
) -> None:
    pulse()
    build.webhook(company)
    publishing.publish([build.news(company)])
    assert client.get("/readyz").status_code == 200

    Delivery.objects.update(due_at=now - timedelta(minutes=3))

    check = client.get("/readyz").json()["checks"]["oldest_due_delivery"]
    nobody = "due for 180 s: no worker sends anything; start one"
    assert check == {"ok": False, "detail": nobody}

    leases.join(1)

    check = client.get("/readyz").json()["checks"]["oldest_due_delivery"]
    assert check == {"ok": False, "detail": "due for 180 s: the workers cannot keep up"}


def test_deliveries_after_a_rest_are_due_since_its_end(
    client: Client, company: Company, now: datetime
) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    Delivery.objects.update(due_at=now - timedelta(minutes=9))
    rested = now - timedelta(seconds=30)
    Health.objects.create(webhook=webhook, failures=3, failing_since=now, resting_until=rested)

    check = client.get("/readyz").json()["checks"]["oldest_due_delivery"]

    assert check == {"ok": True, "detail": "due for 30.0 s"}


def test_probes_the_disk_of_the_database_by_writing_a_file(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(postgresql.SPILL)
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {postgresql.FILL}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    (pages,) = re.findall(r"temp .*written=(\d+)", plan.partition("Planning")[0])[:1]
    # Pages have 8 KiB each.
    assert int(pages) >= 64, plan


def test_a_full_disk_of_the_database_is_not_ready(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulse()
    # The server refuses the file as it would on a full disk.
    refusal = "DO $$ BEGIN RAISE 'could not write: No space left' USING ERRCODE = '53100'; END $$"
    monkeypatch.setattr(postgresql, "FILL", refusal)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["database_disk"] == {
        "ok": False,
        "detail": "No space left: could not write: No space left",
    }
    assert answer.json()["checks"]["database"]["ok"]
    assert 'part_ok{part="database_disk"} 0.0' in client.get("/metrics").content.decode()


def test_a_database_that_allows_no_such_file_is_not_full(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        postgresql, "FILL", "DO $$ BEGIN RAISE 'temp_file_limit' USING ERRCODE = '53400'; END $$"
    )

    assert "temp_file_limit" in postgresql.database_disk()


def test_a_paused_webhook_does_not_make_it_unready(client: Client, company: Company) -> None:
    pulse()
    build.webhook(company, active=False)
    publishing.publish([build.news(company)])
    Delivery.objects.update(due_at=timezone.now() - timedelta(minutes=3))

    assert client.get("/readyz").status_code == 200


def test_is_not_ready_before_its_migrations(client: Client, db: None) -> None:
    pulse()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")

    check = client.get("/readyz").json()["checks"]["migrations"]
    assert check["detail"] == "1 migrations are not applied: run manage.py migrate"


def test_gives_prometheus_its_figures(client: Client, company: Company) -> None:
    pulse()
    build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])

    answer = client.get("/metrics")

    assert answer["Content-Type"].startswith("text/plain")
    lines = answer.content.decode().splitlines()
    assert "parceldesk_database_up 1.0" in lines
    assert "parceldesk_deliveries_waiting 3.0" in lines
    assert "parceldesk_tickets_unassigned 0.0" in lines
    assert any(line.startswith("parceldesk_scheduler_age_seconds ") for line in lines)


def test_gives_prometheus_one_figure_while_the_database_is_away(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(backlog, "oldest_due_by_kind", fail)

    answer = client.get("/metrics")

    assert answer.status_code == 200
    lines = answer.content.decode().splitlines()
    assert [line for line in lines if line[0] != "#"] == ["parceldesk_database_up 0.0"]


def test_tells_the_last_success_of_each_job(client: Client, db: None) -> None:
    pulse()
    jobs.assign_waiting()

    check = client.get("/readyz").json()["checks"]["jobs"]

    assert check["ok"]
    jobs_shown = check["detail"].removeprefix("last success: ").split(", ")
    names = [each.name for each in all_jobs().values() if not each.on_each_host]
    assert [each.partition(" ")[0] for each in jobs_shown] == names
    assert "assign_waiting 0 s ago" in jobs_shown
    assert "make_partitions not yet" in jobs_shown
    assert 'parceldesk_job_age_seconds{name="assign_waiting"}' in (
        client.get("/metrics").content.decode()
    )


def test_is_not_ready_when_a_job_keeps_failing(client: Client, db: None) -> None:
    pulse()
    now = timezone.now()
    Pulse.objects.create(name="assign_waiting", tries=2, begun_at=now, done_at=now)
    assert client.get("/readyz").status_code == 200

    Pulse.objects.filter(name="assign_waiting").update(tries=3)

    check = client.get("/readyz").json()["checks"]["jobs"]
    assert check == {"ok": False, "detail": "assign_waiting did not succeed in 3 runs"}
    # The current run may well be the one that succeeds.
    Pulse.objects.update(tries=3, lease_until=timezone.now() + timedelta(minutes=1))
    assert client.get("/readyz").status_code == 200


def test_is_not_ready_when_a_job_has_long_not_succeeded(
    client: Client, db: None, now: datetime
) -> None:
    pulse()
    long_ago = now - timedelta(seconds=331)
    Pulse.objects.create(name="assign_waiting", tries=1, begun_at=now, done_at=long_ago)

    check = client.get("/readyz").json()["checks"]["jobs"]
    assert check == {"ok": False, "detail": "assign_waiting has not succeeded for 331 s"}


def test_is_not_ready_without_partitions_ahead(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulse()
    state = PartitionState("deliveries_event", weeks_ahead=1, has_rest=True)
    monkeypatch.setattr(partitions, "partition_states", lambda: [state])

    check = client.get("/readyz").json()["checks"]["weeks_ahead"]

    assert not check["ok"]
    assert check["detail"].startswith(
        "deliveries_event has partitions for 1 weeks ahead; deliveries_event_rest has rows: "
    )
    lines = client.get("/metrics").content.decode().splitlines()
    assert 'parceldesk_partition_weeks_ahead{table="deliveries_event"} 1.0' in lines
    assert 'parceldesk_partition_rest_occupied{table="deliveries_event"} 1.0' in lines
