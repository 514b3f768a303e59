"""The events of a webhook as a stream, for companies that cannot be called (decision N6)."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event as Flag
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.engine.signing import sign
from deliveries.models import Delivery, Event, Health, Wakeup
from deliveries.on_demand import stream
from tests import builders as build
from tests.sending import deliver
from tests.tickets.racing import PATIENCE_SECONDS, racers, unfinished
from webhooks import services
from webhooks.models import Webhook
from webhooks.targets import Policy

WRITERS = 16


def fetched(company: Company, **changes: Any) -> Webhook:
    return build.webhook(company, **{"url": "", **changes})


def page(api: APIClient, webhook: Webhook, **query: Any) -> tuple[list[dict[str, Any]], str]:
    answer = api.get(f"/webhooks/{webhook.pk}/events", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"], answer.json()["next_cursor"]


def read_on(
    api: APIClient, webhook: Webhook, cursor: str | None = None, limit: int = 100
) -> tuple[list[str], str]:
    """Read the bodies of all events after a cursor; returns them and the next cursor."""
    bodies: list[str] = []
    while True:
        query = {"after": cursor} if cursor else {}
        events, cursor = page(api, webhook, limit=limit, **query)
        if not events:
            return bodies, cursor
        bodies += [each["body"] for each in events]


def publish(company: Company, *texts: object, **changes: Any) -> None:
    publishing.publish([build.news(company, body=str(text).encode(), **changes) for text in texts])


def test_null_written_out_makes_a_webhook_without_a_target(api: APIClient) -> None:
    answer = api.post("/webhooks", {"url": None})

    assert answer.status_code == 200
    assert answer.json()["data"]["url"] is None
    assert len(answer.json()["data"]["secret"]) == 64
    webhook = api.get(f"/webhooks/{answer.json()['data']['id']}").json()["data"]
    assert (webhook["url"], webhook["active"]) == (None, 1)


def test_a_url_that_is_left_out_or_empty_is_still_refused(api: APIClient) -> None:
    for body in ({}, {"url": ""}, {"url": False}):
        answer = api.post("/webhooks", body)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "url")


def test_cursor_of_an_older_webhook_shows_a_newer_one_nothing_from_before_it(
    api: APIClient, company: Company
) -> None:
    older = Webhook.objects.get(pk=api.post("/webhooks", {"url": None}).json()["data"]["id"])
    publish(company, "one", type=older.type_id)
    _, cursor = read_on(api, older)
    publish(company, "two", type=older.type_id)
    newer = Webhook.objects.get(pk=api.post("/webhooks", {"url": None}).json()["data"]["id"])
    publish(company, "three", type=older.type_id)

    assert read_on(api, older, cursor)[0] == ["two", "three"]
    assert read_on(api, newer, cursor)[0] == read_on(api, newer)[0] == ["three"]


def test_several_of_a_type_are_fetched_and_each_counts(api: APIClient, settings: Any) -> None:
    settings.WEBHOOKS_PER_COMPANY = 2

    answers = [api.post("/webhooks", {"url": None}) for _ in range(3)]

    assert [each.status_code for each in answers] == [200, 200, 422]
    assert answers[2].json()["code"] == "webhook_limit"


@pytest.mark.parametrize(("has", "wants"), [("", "https://hooks.example.com/in"), (None, None)])
def test_no_kind_becomes_the_other(
    api: APIClient, company: Company, has: str | None, wants: str | None
) -> None:
    webhook = build.webhook(company, **({} if has is None else {"url": has}))

    answer = api.put(f"/webhooks/{webhook.pk}", {"url": wants, "active": 0})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "url")
    assert (
        "Register another" in answer.json()["message"]
        or "register another" in answer.json()["message"]
    )
    webhook.refresh_from_db()
    assert webhook.active


def test_null_again_changes_nothing(api: APIClient, company: Company) -> None:
    webhook = fetched(company)

    assert api.put(f"/webhooks/{webhook.pk}", {"url": None, "active": 0}).status_code == 200
    webhook.refresh_from_db()
    assert (webhook.url, webhook.active) == ("", False)


def test_nothing_is_sent_for_it_and_nothing_waits(
    api: APIClient, company: Company, loopback: Policy
) -> None:
    webhook = fetched(company)

    publish(company, "a")
    api.put(f"/webhooks/{webhook.pk}", {"active": 0})
    publish(company, "b")
    api.put(f"/webhooks/{webhook.pk}", {"active": 1})
    deliver(loopback)

    assert Event.objects.count() == 2
    for rows in (Delivery.objects, Wakeup.objects, Health.objects):
        assert not rows.exists()
    health = api.get(f"/webhooks/{webhook.pk}/health").json()["data"]
    assert (health["condition"], health["waiting"]) == ("well", 0)
    assert api.get(f"/webhooks/{webhook.pk}/deliveries").json()["data"] == []
    assert read_on(api, webhook)[0] == ["a", "b"]


def test_recover_says_where_its_events_are(api: APIClient, company: Company) -> None:
    webhook = fetched(company)

    answer = api.post(f"/webhooks/{webhook.pk}/recover", {"since": "2026-01-01"})

    assert (answer.status_code, answer.json()["code"]) == (422, "webhook_without_url")
    assert not Wakeup.objects.exists()


def test_an_event_has_all_that_a_delivery_has(api: APIClient, company: Company) -> None:
    sent_webhook = build.webhook(company, auth_token="a-token")
    pulled = fetched(company, secret="7a" * 32)
    publish(company, '{"a":"León"}')

    (event,), _ = page(api, sent_webhook)
    (other,), _ = page(api, pulled)

    stored, delivery = Event.objects.get(), Delivery.objects.get()
    assert event["id"] == str(delivery.pk)
    assert event["body"] == other["body"] == '{"a":"León"}'
    assert {event["event_id"], other["event_id"]} == {str(stored.fact_id)}
    assert event["sequence"] == other["sequence"] == stored.sequence
    assert event["created_at"] == stored.created_at.strftime("%Y-%m-%d %H:%M:%S")
    assert event["event"] == "tracking.simple"
    assert "Authorization" not in event["headers"]
    for webhook, row in ((sent_webhook, event), (pulled, other)):
        headers = row["headers"]
        assert headers["Content-Type"] == "application/json"
        assert headers["X-Webhook-Id"] == row["id"]
        assert headers["X-Webhook-Event-Id"] == row["event_id"]
        assert headers["X-Webhook-Sequence"] == str(row["sequence"])
        timestamp = int(headers["X-Webhook-Timestamp"])
        signature = sign(webhook.secret, timestamp, "tracking.simple", row["body"].encode())
        assert headers["X-Webhook-Signature"] == signature


def test_it_has_the_same_id_at_every_fetch_and_another_for_each_webhook(
    api: APIClient, company: Company
) -> None:
    one, two = fetched(company), fetched(company)
    publish(company, "a", "b")

    ids = [[each["id"] for each in page(api, webhook)[0]] for webhook in (one, one, two)]

    assert ids[0] == ids[1]
    assert len({*ids[0], *ids[2]}) == 4
    assert all(str(UUID(each)) == each for each in ids[0])


def test_it_is_signed_now_with_the_secret_of_now(api: APIClient, company: Company) -> None:
    past = timezone.now() - timedelta(seconds=1)
    webhook = fetched(company, next_secret="99" * 32, next_secret_at=past)
    publish(company, "a")

    headers = page(api, webhook)[0][0]["headers"]

    timestamp = int(headers["X-Webhook-Timestamp"])
    assert abs(timestamp / 1000 - time.time()) < 600
    assert headers["X-Webhook-Signature"] == sign("99" * 32, timestamp, "tracking.simple", b"a")


def test_unsigned_types_have_no_webhook_headers(api: APIClient, company: Company) -> None:
    webhook = fetched(company, type_id=1)
    publish(company, "a", type=1)

    assert set(page(api, webhook)[0][0]["headers"]) == {"Content-Type", "User-Agent"}


def test_a_secret_that_cannot_be_read_is_told_with_what_to_do(
    api: APIClient, company: Company
) -> None:
    webhook = fetched(company)
    publish(company, "a")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_webhook SET secret = 'lost' WHERE id = %s", [webhook.pk])

    answer = api.get(f"/webhooks/{webhook.pk}/events")

    assert (answer.status_code, answer.json()["code"]) == (422, "webhook_unreadable")
    assert f"POST /webhooks/{webhook.pk}/secret" in answer.json()["message"]


@pytest.mark.parametrize("url", ["", "https://hooks.example.com/in"])
def test_pages_have_a_cursor_also_behind_the_last(
    api: APIClient, company: Company, url: str
) -> None:
    publish(company, "before")
    answer = build.webhook(company, url=url, type_id=5)
    webhook = build.webhook(company, url=url)
    publish(company, "another type", type=5)
    publish(company, *range(7))

    first, cursor = page(api, webhook, limit=4)
    rest, cursor = page(api, webhook, limit=4, after=cursor)
    assert [each["body"] for each in first + rest] == [str(n) for n in range(7)]
    assert page(api, webhook, after=cursor) == ([], cursor)
    publish(company, "news")
    assert read_on(api, webhook, cursor)[0] == ["news"]
    assert read_on(api, answer)[0] == ["another type"]


def test_an_empty_stream_has_a_cursor_that_nothing_is_lost_behind(
    api: APIClient, company: Company
) -> None:
    webhook = fetched(company)
    empty, beginning = page(api, webhook)
    publish(company, "a")

    assert empty == []
    assert read_on(api, webhook, beginning)[0] == ["a"]


def test_it_begins_with_its_registration(api: APIClient, company: Company) -> None:
    fetched(company)
    publish(company, "before")
    later = api.post("/webhooks", {"url": None}).json()["data"]["id"]
    publish(company, "after")

    assert read_on(api, Webhook.objects.get(pk=later))[0] == ["after"]


def test_a_webhook_with_a_url_does_not_read_what_came_before_it(
    api: APIClient, company: Company
) -> None:
    build.webhook(company)
    publish(company, "before")
    later = build.webhook(company, url="https://hooks.example.com/later")
    publish(company, "after")

    assert read_on(api, later)[0] == ["after"]
    assert read_on(api, build.webhook(company, url="https://hooks.example.com/never"))[0] == []


def test_paused_ones_are_listed_and_deleted_and_foreign_ones_are_not(
    api: APIClient, birch_api: APIClient, company: Company
) -> None:
    webhook = fetched(company, active=False)
    publish(company, "a")

    assert read_on(api, webhook)[0] == ["a"]
    assert birch_api.get(f"/webhooks/{webhook.pk}/events").status_code == 404
    services.delete_webhook(company, webhook.pk)
    assert api.get(f"/webhooks/{webhook.pk}/events").status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": "x"}, "after"),
        ({"after": "-1-1"}, "after"),
        ({"after": "1-" + "9" * 18}, "after"),
        ({"after": ""}, "after"),
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"cursor": "1-1"}, "cursor"),
    ],
)
def test_names_what_is_wrong_with_a_query(
    api: APIClient, company: Company, query: dict[str, str], field: str
) -> None:
    answer = api.get(f"/webhooks/{fetched(company).pk}/events", query)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field


def test_a_cursor_whose_event_is_gone_says_how_to_go_on(api: APIClient, company: Company) -> None:
    webhook = fetched(company)
    publish(company, "a", "b")
    _, cursor = page(api, webhook, limit=1)
    Event.objects.filter(body=b"a").delete()

    answer = api.get(f"/webhooks/{webhook.pk}/events", {"after": cursor})

    assert (answer.status_code, answer.json()["code"]) == (410, "cursor_expired")
    assert "without `after`" in answer.json()["message"]
    assert read_on(api, webhook)[0] == ["b"]


def test_the_cursor_of_a_quiet_webhook_moves_up_and_does_not_expire(
    api: APIClient, company: Company, birch: Company
) -> None:
    webhook = fetched(company)
    publish(company, "a")
    Event.objects.update(created_at=timezone.now() - stream.CURSOR_AGE)
    _, old = page(api, webhook)
    fetched(birch)
    publish(birch, "another's")

    events, new = page(api, webhook, after=old)

    assert events == []
    assert new != old
    Event.objects.filter(company=company).delete()
    publish(company, "b")
    assert read_on(api, webhook, new)[0] == ["b"]


@pytest.mark.parametrize("url", ["", "https://hooks.example.com/in"])
def test_nothing_is_skipped_that_commits_in_the_other_order(
    rows_to_keep: None, api: APIClient, company: Company, url: str
) -> None:
    webhook = build.webhook(company, url=url)
    publish(company, 1)
    bodies, cursor = read_on(api, webhook)

    with unfinished(lambda: publish(company, 2)):
        publish(company, 3)
        meanwhile, cursor = read_on(api, webhook, cursor)
    rest, _ = read_on(api, webhook, cursor)

    assert meanwhile == []
    assert bodies + rest == ["1", "2", "3"]


def test_reader_waits_for_publishers_only(
    rows_to_keep: None, api: APIClient, company: Company, birch: Company
) -> None:
    webhook = fetched(company)
    fetched(birch)
    publish(company, 1)

    with unfinished(lambda: Company.objects.filter(pk=birch.pk).update(name="Birches")):
        publish(company, 2)
        bodies, cursor = read_on(api, webhook)
        assert bodies == ["1", "2"]
        with unfinished(lambda: publish(birch, "theirs")):
            publish(company, 3)
            assert read_on(api, webhook, cursor)[0] == []
        assert read_on(api, webhook, cursor)[0] == ["3"]


def test_repeated_publishing_in_a_transaction_holds_one_lock(
    rows_to_keep: None, company: Company
) -> None:
    fetched(company)

    with transaction.atomic():
        with transaction.atomic():
            publish(company, "taken back, and its lock with it")
            assert own_locks() == 1
            transaction.set_rollback(True)
        assert own_locks() == 0
        for number in range(5):
            publish(company, number)
        assert own_locks() == 1


def own_locks() -> int:
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])


def test_under_16_writers_every_event_is_read_once(
    rows_to_keep: None, api: APIClient, company: Company
) -> None:
    each, finished = 6, Flag()
    webhooks = [fetched(company), build.webhook(company)]
    bodies_by_webhook: dict[int, list[str]] = {}
    # The first request of a process takes longer than later ones.
    page(api, webhooks[0])

    def write(writer: int) -> None:
        dice = random.Random(writer)  # noqa: S311 - no secret
        for number in range(each):
            with transaction.atomic():
                publish(company, f"{writer}.{number}", shipment_id=writer)
                time.sleep(dice.random() / 20)
                if dice.random() < 0.1:
                    transaction.set_rollback(True)
                    lost.add(f"{writer}.{number}")

    def follow(webhook: Webhook) -> None:
        cursor, more = None, True
        while more:
            more = not finished.is_set()
            bodies, cursor = read_on(api, webhook, cursor)
            bodies_by_webhook[webhook.pk] = bodies_by_webhook.get(webhook.pk, []) + bodies

    lost: set[str] = set()
    follows = [lambda one=webhook: follow(one) for webhook in webhooks]
    with (
        racers(WRITERS) as writers,
        racers(len(webhooks)) as readers,
        ThreadPoolExecutor(1) as aside,
    ):
        reading = aside.submit(readers.run, follows)
        writers.run([lambda one=number: write(one) for number in range(WRITERS)])
        finished.set()
        reading.result(PATIENCE_SECONDS)

    wanted = {f"{writer}.{number}" for writer in range(WRITERS) for number in range(each)} - lost
    for webhook in webhooks:
        bodies = bodies_by_webhook[webhook.pk]
        assert len(bodies) == len(set(bodies)) == len(wanted)
        assert set(bodies) == wanted
