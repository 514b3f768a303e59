"""The command `queue`: the backlog, for people and for programs."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from companies.models import Company
from deliveries import publishing
from deliveries.engine import leases
from deliveries.management.commands import queue as command
from deliveries.models import Delivery, Health
from deliveries.monitoring import queue_picture
from tests import builders as build


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MEASURED_SECONDS", 0)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("queue", *arguments, stdout=out)
    return out.getvalue()


def queue_json(*arguments: str) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture
def busy(company: Company) -> list[int]:
    """Create webhooks: two on one host, one of another company; the first waits longest."""
    other = build.company("Birch")
    webhooks = [
        build.webhook(company, url="https://a.example/one"),
        build.webhook(company, url="https://a.example/two"),
        build.webhook(other, url="https://b.example:8443/hook"),
    ]
    publishing.publish([build.news(company, 1), build.news(other, 1)])
    for hours, webhook in enumerate(reversed(webhooks), start=1):
        since = timezone.now() - timedelta(hours=hours)
        Delivery.objects.filter(webhook=webhook).update(created_at=since)
    return [webhook.pk for webhook in webhooks]


def test_an_empty_queue_is_said(db: None) -> None:
    result = queue_json()

    assert result["oldest"] == []
    assert result["totals"]["waiting"] == result["totals"]["due"] == result["totals"]["loops"] == 0


def test_backlog_counts_due_and_in_flight(busy: list[int]) -> None:
    leases.join(2)
    waiting = Delivery.objects.open().count()

    totals = queue_json()["totals"]
    assert (totals["waiting"], totals["due"], totals["in_flight"]) == (waiting, waiting, 0)
    assert (totals["loops"], totals["slots"]) == (1, command.SLOTS)

    soon = timezone.now() + timedelta(minutes=1)
    claimed = Delivery.objects.filter(webhook=busy[0]).update(claimed_until=soon)
    result = queue_json()
    assert result["totals"]["in_flight"] == result["oldest"][0]["in_flight"] == claimed


def test_webhook_that_waits_longest_is_first(busy: list[int]) -> None:
    oldest = queue_json()["oldest"]

    assert [one["webhooks"] for one in oldest] == [[each] for each in busy]
    assert oldest[0]["name"] == f"{busy[0]} a.example"
    assert (
        oldest[0]["waiting"] == oldest[0]["due"] == Delivery.objects.filter(webhook=busy[0]).count()
    )


def test_backlog_is_grouped_by_host_and_by_company(busy: list[int]) -> None:
    hosts, companies = queue_json("--by", "host")["oldest"], queue_json("--by", "company")["oldest"]

    assert [(one["name"], sorted(one["webhooks"])) for one in hosts] == [
        ("a.example", busy[:2]),
        ("b.example:8443", busy[2:]),
    ]
    assert [one["name"].split()[1] for one in companies] == ["Acme", "Birch"]
    assert len(queue_json("--by", "host", "--limit", "1")["oldest"]) == 1


def test_conditions_are_shown(busy: list[int]) -> None:
    soon = timezone.now() + timedelta(minutes=1)
    Health.objects.create(webhook_id=busy[0], failures=1)
    Health.objects.create(webhook_id=busy[1], failures=3, resting_until=soon)

    assert [one["condition"] for one in queue_json()["oldest"]] == ["failing", "resting", "well"]
    assert queue_json("--by", "host")["oldest"][0]["condition"] == "1 failing, 1 resting"
    assert queue_json()["totals"]["resting_webhooks"] == 1


def test_counts_stop_at_bounds_and_say_so(busy: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_picture, "MOST_DUE", 1)
    monkeypatch.setattr(queue_picture, "MOST_ROWS", 1)

    result = queue_json()
    assert (result["totals"]["due"], result["totals"]["due_cut"]) == (1, True)
    assert [(one["waiting"], one["cut"]) for one in result["oldest"]] == [(1, True)] * 3
    assert "due 1+" in run()


def test_attempts_are_counted_between_two_looks(db: None) -> None:
    before = queue_picture.attempts_mark()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('deliveries_attempt', 'id'))"
            " FROM generate_series(1, 40)"
        )
    now = queue_picture.attempts_mark()

    assert now.attempts - before.attempts == 40
    assert queue_picture.rate_between(before, now._replace(at=before.at + 2)) == 20
    assert queue_picture.rate_between(None, now) is None


@pytest.mark.parametrize("limit", ["0", "1001", "-1"])
def test_refuses_an_invalid_limit(db: None, limit: str) -> None:
    with pytest.raises(CommandError, match="--limit"):
        run("--limit", limit)
