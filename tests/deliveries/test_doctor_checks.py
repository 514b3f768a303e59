"""Checks of `doctor` on whether deliveries go out, and whose fault it is if not."""

import resource
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from core.watch.doctor import Grade
from deliveries import publishing
from deliveries.engine import leases
from deliveries.engine.standing_by import PRESSED_SLOTS
from deliveries.models import Delivery, Health, Heartbeat, State
from tests import builders as build
from tests.core.test_doctor import FAIL, OK, WARN, examined

pytestmark = pytest.mark.django_db


@pytest.mark.django_db
def test_loops_that_are_away_are_missed(settings: Settings) -> None:
    settings.DELIVERY_LOOPS = 2
    assert examined("engine_loops")[1:3] == (FAIL, "no loop is alive, so nothing is sent")

    leases.join(2)
    assert examined("engine_loops")[1:3] == (OK, "1 alive on 1 host")

    Heartbeat.objects.update(busy=PRESSED_SLOTS)
    text = f"1 of 2 loops are alive, with {PRESSED_SLOTS} requests in flight"
    assert examined("engine_loops")[1:3] == (WARN, text)

    settings.DELIVERY_LOOPS = 1
    assert examined("engine_loops").grade is OK

    Heartbeat.objects.update(lease_until=timezone.now())
    assert examined("engine_loops").grade is FAIL


@pytest.mark.parametrize(("hard", "grade"), [(100_000, OK), (-1, OK), (1024, WARN)])
def test_a_low_limit_of_open_files_is_said(
    monkeypatch: pytest.MonkeyPatch, hard: int, grade: Grade
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, hard))

    assert examined("open_files").grade is grade


def test_authorities_that_cannot_be_read_are_said(settings: Settings, tmp_path: Path) -> None:
    assert examined("outgoing_tls").grade is OK

    settings.DELIVERY_CA_BUNDLE = str(tmp_path / "ca.pem")
    assert examined("outgoing_tls").grade is FAIL


def failing_webhook(company: Company, host: str, *, hours: float, failures: int = 3) -> None:
    webhook = build.webhook(company, url=f"https://{host}.example/hook")
    since = timezone.now() - timedelta(hours=hours)
    Health.objects.create(webhook=webhook, failures=failures, failing_since=since)


def well_webhook(company: Company, host: str, *, hours: float) -> None:
    """Create a webhook whose newest delivery was stored N hours ago and delivered."""
    webhook = build.webhook(company, url=f"https://{host}.example/hook")
    publishing.publish([build.news(company)])
    stored = timezone.now() - timedelta(hours=hours)
    own = Delivery.objects.filter(webhook=webhook)
    own.update(state=State.DELIVERED, created_at=stored, archived_on=stored.date())
    Delivery.objects.exclude(webhook=webhook).open().delete()


def test_receivers_that_fail_all_at_once_are_our_fault(company: Company) -> None:
    for number in range(5):
        failing_webhook(company, str(number), hours=1, failures=1)
    assert examined("receivers")[1:3] == (WARN, "5 of 5 began to fail within a day")

    for number in range(5, 10):
        well_webhook(company, str(number), hours=0.1)
    assert examined("receivers").grade is OK


def test_receivers_without_deliveries_do_not_count_as_healthy(company: Company) -> None:
    """Count them as not well: in a quiet service most webhooks had nothing since the outage."""
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


def test_receivers_that_failed_one_by_one_are_their_own_fault(company: Company) -> None:
    """Blame them: each of six has been down for hours, and few others had deliveries since."""
    for number in range(6):
        failing_webhook(company, str(number), hours=number * 3 + 0.5)
    for number in range(6, 13):
        well_webhook(company, str(number), hours=4)

    assert examined("receivers").grade is OK


def test_loops_that_die_again_and_again_are_seen(db: None) -> None:
    for _ in range(2):
        leases.join(9)
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=9))
    leases.take_over()
    assert examined("engine_restarts").grade is OK

    leases.join(9)
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=9))
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
