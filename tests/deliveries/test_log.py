"""The delivery log of a company, and the actions in it."""

from datetime import datetime, timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.engine import recording
from deliveries.models import Delivery, State
from tests import builders as build
from tests.deliveries.test_recording import claim_one, failed, result
from tests.sending import claim
from webhooks import services


def finish(count: int, **changes: object) -> None:
    for _ in range(count):
        recording.record_attempts([result(claim_one(), **changes)])


def test_lists_the_newest_first(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    finish(1)

    log = api.get(f"/webhooks/{webhook.pk}/deliveries").json()

    assert [each["shipment_id"] for each in log["data"]] == [2, 1, 0]
    assert log["next_cursor"] is None
    oldest = log["data"][-1]
    delivery = Delivery.objects.get(subject_id=0)
    assert oldest == {
        "id": str(delivery.pk),
        "event": "tracking.simple",
        "state": "delivered",
        "attempts": 1,
        "due_at": None,
        "last_status": 204,
        "last_error": None,
        "shipment_id": 0,
        "ticket_id": None,
        "tracking_number": "TRACK0",
        "request_id": None,
        "created_at": delivery.created_at.strftime("%Y-%m-%d %H:%M:%S"),
        "finished_at": delivery.finished_at.strftime("%Y-%m-%d %H:%M:%S"),
    }
    assert log["data"][0]["due_at"] is not None


def test_pages_by_cursor_without_gap_or_repeat(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(25)])
    finish(7)
    ids, query = [], {"limit": 10}

    while True:
        page = api.get(f"/webhooks/{webhook.pk}/deliveries", query).json()
        ids += [each["shipment_id"] for each in page["data"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]

    assert ids == list(range(24, -1, -1))


@pytest.mark.parametrize("many", [1, 20])
def test_takes_as_many_queries_for_many_as_for_one(
    api: APIClient,
    company: Company,
    django_assert_num_queries: DjangoAssertNumQueries,
    many: int,
) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(many)])
    api.get("/webhooks")

    with django_assert_num_queries(4):
        answer = api.get(f"/webhooks/{webhook.pk}/deliveries")
    assert (answer.status_code, len(answer.json()["data"])) == (200, many)


def test_filters_by_state_time_and_tracking_number(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(4)])
    finish(1)
    finish(1, state=State.GIVEN_UP, status=500)

    def shipments(**query: str) -> list[int]:
        log = api.get(f"/webhooks/{webhook.pk}/deliveries", query).json()
        return [each["shipment_id"] for each in log["data"]]

    later = (timezone.now() + timedelta(seconds=5)).isoformat()
    assert shipments(state="delivered") == [0]
    assert shipments(state="given_up") == [1]
    assert shipments(state="waiting") == [3, 2]
    assert shipments(state="cancelled") == []
    assert shipments(tracking_number="TRACK2") == [2]
    assert shipments(since=later) == []
    assert shipments(until=later) == [3, 2, 1, 0]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"state": "lost"}, "state"),
        ({"since": "yesterday"}, "since"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "9" * 19 + "-1"}, "cursor"),
        ({"limit": "101"}, "limit"),
        ({"limit": "0"}, "limit"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_names_what_is_wrong_with_a_query(
    api: APIClient, company: Company, query: dict, field: str
) -> None:
    webhook = build.webhook(company)

    answer = api.get(f"/webhooks/{webhook.pk}/deliveries", query)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


def test_shows_the_exact_body_and_every_attempt(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, body='{"a":"León"}'.encode())])
    recording.record_attempts([failed(claim_one(), wait=-1, detail="Too slow.")])
    recording.record_attempts([result(claim_one(), answer=b"\xff\x00ok")])

    delivery = api.get(f"/deliveries/{Delivery.objects.get().pk}").json()["data"]

    assert delivery["body"] == '{"a":"León"}'
    assert delivery["webhook_id"] == webhook.pk
    first, second = delivery["log"]
    assert (first["number"], first["status"], first["error"]) == (1, None, "timeout")
    assert (first["detail"], first["duration_ms"]) == ("Too slow.", 12)
    assert (second["number"], second["status"], second["error"]) == (2, 204, None)
    assert second["answer"] == "��ok"


def test_sends_again_now_under_the_same_id(api: APIClient, company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    finish(1, state=State.GIVEN_UP, status=500)
    delivery = Delivery.objects.get()

    answer = api.post(f"/deliveries/{delivery.pk}/redeliver")

    assert (answer.status_code, answer.json()) == (200, {"data": True})
    again = claim_one()
    assert (again.id, again.step, again.attempts) == (str(delivery.pk), 0, 1)


def test_replaces_the_waiting_attempt(api: APIClient, company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    recording.record_attempts([failed(claim_one(), wait=3600)])
    delivery = Delivery.objects.get()

    api.post(f"/deliveries/{delivery.pk}/redeliver")

    assert Delivery.objects.count() == 1
    assert claim_one().id == str(delivery.pk)
    assert claim(10) == []


def test_recovers_what_was_given_up_in_a_window_in_order(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, 1, body=str(n).encode()) for n in range(4)])
    since = (timezone.now() - timedelta(seconds=60)).isoformat()
    finish(1)
    finish(3, state=State.GIVEN_UP, status=500)

    answer = api.post(f"/webhooks/{webhook.pk}/recover", {"since": since})

    assert answer.json() == {"data": {"redelivered": 3}}
    bodies = []
    for _ in range(3):
        claimed = claim_one()
        bodies.append(claimed.body)
        recording.record_attempts([result(claimed)])
    assert bodies == [b"1", b"2", b"3"]


def test_recovers_nothing_outside_the_window(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    finish(1, state=State.GIVEN_UP, status=500)
    window = {"since": "2020-01-01", "until": "2020-01-02T00:00:00Z"}

    assert api.post(f"/webhooks/{webhook.pk}/recover", window).json() == {
        "data": {"redelivered": 0}
    }
    assert Delivery.objects.get().state == State.GIVEN_UP


def test_a_window_has_its_start_and_not_its_end(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    finish(1, state=State.GIVEN_UP, status=500)
    created = Delivery.objects.get().created_at
    later = created + timedelta(microseconds=1)

    def listed(**window: datetime) -> int:
        query = {name: time.isoformat() for name, time in window.items()}
        return len(api.get(f"/webhooks/{webhook.pk}/deliveries", query).json()["data"])

    def recovered(**window: datetime) -> int:
        out, options = StringIO(), [f"--{name}={time.isoformat()}" for name, time in window.items()]
        call_command("redeliver", f"--webhook={webhook.pk}", *options, "--dry-run", stdout=out)
        return int(out.getvalue().split()[0])

    for count in (listed, recovered):
        assert count(since=created, until=later) == 1
        assert (count(since=later), count(until=created)) == (0, 0)


ODD_TIMES = [
    ("2026-01-01T00:00:00+16:00", "Send a UTC offset of less than 16 hours."),
    ("2026-01-01T00:00:00-23:59", "Send a UTC offset of less than 16 hours."),
    ("0001-01-01T00:00:00+14:00", "Send a time in the years 1 to 9999."),
    ("9999-12-31T23:59:59-12:00", "Send a time in the years 1 to 9999."),
]


@pytest.mark.parametrize(("time", "why"), ODD_TIMES)
@pytest.mark.parametrize("name", ["since", "until"])
def test_refuses_a_time_that_cannot_be_given_in_utc(
    api: APIClient, company: Company, name: str, time: str, why: str
) -> None:
    webhook = build.webhook(company)
    window = {"since": "2026-01-01", name: time}

    listed = api.get(f"/webhooks/{webhook.pk}/deliveries", {name: time})
    recovered = api.post(f"/webhooks/{webhook.pk}/recover", window)

    for answer in (listed, recovered):
        assert answer.status_code == 400
        assert answer.json()["errors"] == [{"field": name, "message": why, "code": "invalid_time"}]


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00+14:00", "2026-01-01T00:00:00-15:59"])
def test_takes_every_offset_that_clocks_have(api: APIClient, company: Company, time: str) -> None:
    webhook = build.webhook(company)

    assert api.get(f"/webhooks/{webhook.pk}/deliveries", {"since": time}).status_code == 200


@pytest.mark.parametrize(("time", "why"), ODD_TIMES)
def test_the_command_refuses_the_same_times(db: None, time: str, why: str) -> None:
    with pytest.raises(CommandError, match=f"--since: {why}"):
        call_command("redeliver", f"--since={time}")


def test_health_of_a_webhook_is_shown(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(5)])
    finish(3)
    recording.record_attempts([failed(claim_one(), status=500, error="", unreachable=False)])

    health = api.get(f"/webhooks/{webhook.pk}/health").json()["data"]

    assert health["condition"] == "failing"
    assert (health["failures_in_a_row"], health["attempts"]) == (1, 4)
    assert health["success_rate"] == 0.75
    assert health["duration_ms"] == {"p50": 12, "p95": 12}
    assert health["waiting"] == 2
    services.pause(webhook.pk, "for a test")
    assert api.get(f"/webhooks/{webhook.pk}/health").json()["data"]["condition"] == "paused"


def test_a_new_webhook_is_well(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)

    health = api.get(f"/webhooks/{webhook.pk}/health").json()["data"]

    assert (health["condition"], health["success_rate"], health["waiting"]) == ("well", None, 0)


def test_shows_nothing_to_strangers(api: APIClient, birch_api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    delivery = Delivery.objects.get().pk

    for method, path in [
        ("get", f"/webhooks/{webhook.pk}/deliveries"),
        ("get", f"/webhooks/{webhook.pk}/health"),
        ("post", f"/webhooks/{webhook.pk}/recover"),
        ("get", f"/deliveries/{delivery}"),
        ("post", f"/deliveries/{delivery}/redeliver"),
    ]:
        foreign = getattr(birch_api, method)(path)
        missing = getattr(api, method)(
            path.replace(str(delivery), str(uuid4())).replace(f"/{webhook.pk}/", "/999999/")
        )
        assert foreign.status_code == missing.status_code == 404, path
        assert foreign.content == missing.content
