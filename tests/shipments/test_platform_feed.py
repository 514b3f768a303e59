"""POST /platform/feed: the feed over HTTP, for whoever holds the platform's token."""

import gzip
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from threading import Event as Signal
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import services
from companies.api import bundles
from companies.models import Company, KeptBundle, PlatformToken
from config.door import credentials
from core import retention
from deliveries.models import Delivery
from shipments.api import feed_views
from shipments.feed import bundles as recording_bundles
from shipments.feed import ingesting, reading
from shipments.models import Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tests.described import conforms, description, has_headers
from tests.shipments import feeding
from tests.shipments.feeding import Line, encoded, shipment, surcharge, tracking

LINES = "application/x-ndjson"
Post = Callable[..., HttpResponse]


def text(*lines: Line | bytes) -> bytes:
    return b"".join(encoded(line) + b"\n" for line in lines)


def report(read: int, changed: int, events: int = 0, known: int = 0, **more: Any) -> dict[str, Any]:
    counts = {"read": read, "changed": changed, "events": events, "known": known}
    return {**counts, "bad": [], "bad_count": 0, **more}


def client() -> Client:
    token = services.issue_platform_token()
    headers = {"Authorization": f"Bearer {token}"}
    return Client(raise_request_exception=False, headers=headers)


@pytest.fixture
def platform(db: None) -> Client:
    return client()


@pytest.fixture
def post(platform: Client) -> Post:
    return poster(platform)


def poster(sender: Client) -> Post:
    def send(body: bytes, *, kind: str = LINES, **headers: str) -> HttpResponse:
        header_names = {name.replace("_", "-"): value for name, value in headers.items()}
        return sender.post("/platform/feed", body, content_type=kind, headers=header_names)

    return send


def test_records_lines_as_ingest_does(company: Company, post: Post) -> None:
    build.webhook(company)

    answer = post(text(shipment(5, company.pk), tracking(5, "Shipped"), surcharge(1, 5)))

    assert answer.status_code == 200
    assert answer.json() == report(3, 3, 2)
    assert Shipment.objects.get().status == "Shipped"
    assert Delivery.objects.count() == 1


def test_the_same_lines_again_are_known(company: Company, post: Post) -> None:
    body = text(shipment(5, company.pk), tracking(5, "Shipped"))
    post(body)

    assert post(body).json() == report(2, 0, known=2)


@pytest.mark.parametrize("name", ["gzip", "GZIP", "x-gzip"])
def test_takes_lines_packed_by_gzip(company: Company, post: Post, name: str) -> None:
    first, second = text(shipment(5, company.pk)), text(tracking(5, "Shipped"))

    answer = post(gzip.compress(first) + gzip.compress(second), Content_Encoding=name)

    assert answer.json() == report(2, 2, 1)


@pytest.mark.parametrize("body", [b"\n", b"\n \r\n"])
def test_nothing_to_record_is_fine(post: Post, body: bytes) -> None:
    assert post(body).json() == report(0, 0)
    assert post(gzip.compress(body), Content_Encoding="gzip").json() == report(0, 0)


def test_names_the_first_hundred_bad_lines_and_counts_all(company: Company, post: Post) -> None:
    bad = [b"{", tracking(77, "Lost"), b"\xff", b"null", b'{"kind":"x"}'] * 30

    answer = post(text(*bad, shipment(5, company.pk))).json()

    assert (answer["read"], answer["changed"], answer["bad_count"]) == (151, 1, 150)
    assert [each["line"] for each in answer["bad"]] == [*range(1, 101)]
    assert answer["bad"][1]["reason"] == "shipment_id: there is no shipment 77"


@pytest.mark.parametrize(
    ("authorization", "message", "challenge"),
    [
        ("", "Send the header Authorization: Bearer <platform token>.", "Bearer"),
        (
            "Bearer feed_test_x",
            "This platform token is unknown, expired or revoked.",
            'Bearer error="invalid_token"',
        ),
        ("Basic abc", "Send the header Authorization: Bearer <platform token>.", "Bearer"),
    ],
)
def test_a_stranger_is_refused(db: None, authorization: str, message: str, challenge: str) -> None:
    answer = poster(Client())(b"", Authorization=authorization)

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, challenge)
    assert answer.json()["message"] == message


def test_a_company_s_token_does_not_open_the_feed(api: APIClient, company: Company) -> None:
    answer = api.generic("POST", "/platform/feed", text(shipment(5, company.pk)), LINES)

    assert answer.status_code == 401
    assert not Shipment.objects.exists()


@pytest.mark.parametrize("path", ["/webhooks", "/company/tickets", "/webhook-types"])
def test_the_platform_s_token_opens_nothing_else(platform: Client, path: str) -> None:
    assert platform.get(path).status_code == 401


def test_an_expired_or_revoked_token_is_refused_at_once(platform: Client, post: Post) -> None:
    assert post(b"\n").status_code == 200
    PlatformToken.objects.update(expires_at=timezone.now())
    assert post(b"\n").status_code == 401
    PlatformToken.objects.update(expires_at=None)
    services.revoke_platform_token(PlatformToken.objects.get().prefix)
    assert post(b"\n").status_code == 401


def test_notes_when_a_token_was_used(post: Post) -> None:
    post(b"\n")

    assert timezone.now() - PlatformToken.objects.get().last_used_at < timedelta(minutes=1)


def test_other_methods_are_refused(platform: Client) -> None:
    assert platform.get("/platform/feed").status_code == 405
    assert platform.put("/platform/feed").status_code == 405


# Request bodies and media types


@pytest.mark.parametrize("kind", ["application/x-ndjson; charset=utf-8", "application/jsonl"])
def test_takes_every_name_of_json_lines(post: Post, kind: str) -> None:
    assert post(b"\n", kind=kind).status_code == 200


@pytest.mark.parametrize(
    ("kind", "coding"),
    [
        ("application/x-www-form-urlencoded", ""),
        ("text/plain", ""),
        ("multipart/form-data; boundary=x", ""),
        (LINES, "br"),
        (LINES, "gzip, gzip"),
        (LINES, "deflate"),
    ],
)
def test_refuses_what_it_cannot_read(post: Post, kind: str, coding: str) -> None:
    answer = post(b"x", kind=kind, Content_Encoding=coding)

    assert answer.status_code == 415
    assert answer.get("Accept-Encoding") == ("gzip, x-gzip, identity" if coding else None)
    assert ("application/x-ndjson" in answer.get("Accept", "")) is (kind != LINES)


def broken(packed: bytes) -> dict[str, bytes]:
    middle = len(packed) // 2
    flipped = bytes([packed[middle] ^ 0xFF])
    return {
        "plain": b'{"kind":"tracking"}',
        "cut": packed[:-1],
        "without its end": packed[:-8],
        "a head alone": packed[:10],
        "damaged": packed[:middle] + flipped + packed[middle + 1 :],
        "wrong sum": packed[:-8] + b"\0" * 4 + packed[-4:],
        "something behind": packed + b"behind",
    }


@pytest.mark.parametrize("name", broken(b"0" * 20))
def test_broken_gzip_leaves_no_trace(company: Company, post: Post, name: str) -> None:
    lines = text(*(shipment(each, company.pk) for each in range(1, 200)))

    answer = post(broken(gzip.compress(lines))[name], Content_Encoding="gzip")

    assert answer.status_code == 400
    assert answer.json()["message"] == "The body is not valid gzip."
    assert not Shipment.objects.exists()


def test_a_bomb_stops_at_the_limit_and_holds_no_more(
    company: Company, post: Post, settings: Settings
) -> None:
    line = text(shipment(5, company.pk))
    bomb = gzip.compress(line + b" " * (2 * settings.MAX_FEED_BYTES))
    post(gzip.compress(line), Content_Encoding="gzip")
    Shipment.objects.all().delete()

    tracemalloc.start()
    answer = post(bomb, Content_Encoding="gzip")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert answer.status_code == 413
    assert not Shipment.objects.exists()
    assert most < settings.MAX_FEED_BYTES / 4


@pytest.mark.parametrize("packed", [False, True])
def test_the_limit_is_of_the_lines_plain(post: Post, settings: Settings, packed: bool) -> None:
    settings.MAX_FEED_BYTES = 1000

    def answer(size: int) -> int:
        body = b"\n" * size
        if packed:
            return post(gzip.compress(body), Content_Encoding="gzip").status_code
        return post(body).status_code

    assert (answer(1000), answer(1001)) == (200, 413)


def test_the_door_takes_sixteen_mebibytes_from_the_platform_alone(api: APIClient) -> None:
    token = [("AUTHORIZATION", f"Bearer {services.issue_platform_token()}")]
    company = [("AUTHORIZATION", api._credentials["HTTP_AUTHORIZATION"])]

    assert credentials.are_known(token, "/platform/feed")
    assert not credentials.are_known(company, "/platform/feed")
    assert not credentials.are_known([], "/platform/feed")
    assert not credentials.are_known(token, "/webhooks")


# Once


def test_the_same_key_gets_exactly_the_first_answer(company: Company, post: Post) -> None:
    body = text(shipment(5, company.pk), tracking(5, "Shipped"), b"{")

    first = post(body, Idempotency_Key="a")
    again = post(gzip.compress(body), Idempotency_Key="a", Content_Encoding="gzip")

    assert first.json()["changed"] == 2
    assert (again.status_code, again.content) == (200, first.content)
    assert post(body, Idempotency_Key="b").json()["known"] == 2


@pytest.mark.parametrize("key", ["", "é", "a" * 256, "a\tb"])
def test_refuses_an_invalid_key(company: Company, post: Post, key: str) -> None:
    assert post(text(shipment(5, company.pk)), Idempotency_Key=key).status_code == 422
    assert not Shipment.objects.exists()
    assert not KeptBundle.objects.exists()


def test_refuses_the_key_of_other_lines(company: Company, post: Post) -> None:
    post(text(shipment(5, company.pk)), Idempotency_Key="a")

    assert post(text(shipment(6, company.pk)), Idempotency_Key="a").status_code == 422
    assert Shipment.objects.count() == 1


def test_forgets_a_key_after_a_day(company: Company, post: Post) -> None:
    post(text(shipment(5, company.pk)), Idempotency_Key="a")
    KeptBundle.objects.update(created_at=timezone.now() - timedelta(hours=25))

    assert post(text(shipment(6, company.pk)), Idempotency_Key="a").json() == report(1, 1)
    KeptBundle.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert retention.forget_old(retention.Sweep()).rows["answers"] == 1


def test_while_the_first_is_running_the_second_waits(company: Company, post: Post) -> None:
    body = text(shipment(5, company.pk))
    post(body, Idempotency_Key="a")
    KeptBundle.objects.update(answer="", busy_until=timezone.now() + bundles.LEASE)

    answer = post(body, Idempotency_Key="a")

    assert (answer.status_code, answer["Retry-After"]) == (409, "1")


def test_after_a_crash_in_the_middle_the_key_is_free_again(company: Company, post: Post) -> None:
    """Play a killed process: its lines are recorded, and nobody renews its mark."""
    body = text(shipment(5, company.pk), tracking(5, "Shipped"))
    post(body, Idempotency_Key="a")
    KeptBundle.objects.update(answer="", busy_until=timezone.now())

    answer = post(body, Idempotency_Key="a")

    assert answer.json() == report(2, 0, known=2)
    assert post(body, Idempotency_Key="a").content == answer.content


def test_late_first_run_returns_the_answer_of_the_second(db: None) -> None:
    bundles.begin_bundle("a", "1")
    KeptBundle.objects.update(busy_until=timezone.now())
    bundles.begin_bundle("a", "1")

    assert bundles.answer_bundle("a", {"read": 1}) == {"read": 1}
    assert bundles.answer_bundle("a", {"read": 2}) == {"read": 1}


def test_a_long_bundle_is_held(
    company: Company, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_bundles, "clock", iter(range(0, 100, 6)).__next__)
    held_keys = []
    monkeypatch.setattr(bundles, "renew_bundle_lease", held_keys.append)

    assert post(text(*[b"{"] * 1500), Idempotency_Key="a").status_code == 200

    assert held_keys == ["a"] * 3


@pytest.mark.usefixtures("rows_to_keep")
def test_second_request_at_once_is_told_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    company, started, gate = build.company(), Signal(), Signal()
    post = poster(client())
    record = feed_views.record

    def slowly(*arguments: Any) -> dict[str, Any]:
        started.set()
        assert gate.wait(20)
        return record(*arguments)

    monkeypatch.setattr(feed_views, "record", slowly)
    body = text(shipment(5, company.pk))

    def first() -> HttpResponse:
        try:
            return post(body, Idempotency_Key="a")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(first)
        assert started.wait(20)
        second = post(body, Idempotency_Key="a")
        gate.set()

    assert second.status_code == 409
    assert running.result().json() == report(1, 1)


@pytest.mark.usefixtures("rows_to_keep")
def test_the_command_and_the_address_at_once_are_as_good_as_one(tmp_path: Path) -> None:
    company = build.company()
    ids = range(1, 101)
    lines = [shipment(each, company.pk) for each in ids] + [tracking(each, "Lost") for each in ids]
    file = feeding.write(tmp_path / "feed", *lines)
    senders = [poster(client()) for _ in range(2)]
    barrier = Barrier(3)

    def run(send: Post | None) -> dict[str, int]:
        try:
            barrier.wait()
            return send(text(*lines)).json() if send else feeding.ingest(file).counts
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(run, [None, *senders]))

    assert sum(each["changed"] for each in answers) == 200
    assert sum(each["events"] for each in answers) == 100
    assert sum(each["known"] for each in answers) == 400
    assert TrackingUpdate.objects.count() == 100


# Trouble


def test_a_process_records_two_bundles_at_a_time(post: Post) -> None:
    with feed_views.batch_slot(), feed_views.batch_slot():
        answer = post(b"\n")

    assert (answer.status_code, answer["Retry-After"]) == (429, "2")
    assert answer.json()["code"] == "feed_busy"
    assert post(b"\n").status_code == 200


@pytest.mark.usefixtures("one_minute")
def test_has_a_limit_of_its_own(post: Post, settings: Settings, company: Company) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "feed": 1}

    assert post(b"\n")["RateLimit-Remaining"] == "0"
    assert post(b"\n").status_code == 429


def test_slow_bundle_says_where_to_resume(
    company: Company, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_bundles, "clock", iter([0, 30, 60]).__next__)
    lines = [shipment(each, company.pk) for each in range(1, 1501)]

    answer = post(text(*lines), Idempotency_Key="a")

    assert answer.status_code == 413
    assert (answer.json()["code"], answer.json()["reached"]) == ("batch_too_long", 1000)
    assert Shipment.objects.count() == 1000
    monkeypatch.undo()
    assert post(text(*lines), Idempotency_Key="a").json() == report(1500, 500, known=1000)


@pytest.mark.usefixtures("rows_to_keep")
def test_a_database_that_fails_in_the_middle_is_told_and_a_repeat_mends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    company, post = build.company(), poster(client())
    monkeypatch.setattr(ingesting, "BATCH_LINES", 1)
    monkeypatch.setattr(recording_bundles, "WAITS", (0,))
    record = ingesting.recording.record_facts
    body = text(shipment(5, company.pk), tracking(5, "Shipped"))

    def failing(lines: list[Any]) -> Any:
        if Shipment.objects.exists():
            raise OperationalError("the server closed the connection")
        return record(lines)

    monkeypatch.setattr(ingesting.recording, "record_facts", failing)
    answer = post(body, Idempotency_Key="a")
    monkeypatch.setattr(ingesting.recording, "record_facts", record)

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["reached"] == 1
    assert "closed the connection" not in answer.content.decode()
    assert not TrackingUpdate.objects.exists()
    assert post(body, Idempotency_Key="a").json() == report(2, 1, 1, known=1)


@pytest.mark.parametrize("step", ["begin_bundle", "answer_bundle"])
def test_a_database_that_is_away_is_a_503(
    company: Company, post: Post, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(bundles, step, away)
        answer = post(text(shipment(5, company.pk)), Idempotency_Key="a")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert post(text(shipment(5, company.pk)), Idempotency_Key="a").status_code == 200


def test_a_row_that_the_database_rejects_is_a_bad_line(
    company: Company, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ingesting.recording.record_facts

    def rejecting(lines: list[Any]) -> Any:
        if any(getattr(line, "surcharge_id", 0) == 7 for line in lines):
            raise ingesting.DataError("out of range")
        return record(lines)

    monkeypatch.setattr(ingesting.recording, "record_facts", rejecting)

    answer = post(text(shipment(5, company.pk), surcharge(7, 5), surcharge(8, 5))).json()

    assert answer["bad"] == [{"line": 2, "reason": "the database rejects it: out of range"}]
    assert Surcharge.objects.get().surcharge_id == 8


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 60_000,
        b'{"a":' * 5000,
        b"x" * (reading.LONGEST_LINE_BYTES + 1),
        b'{"kind":"shipment","kind":"shipment"}',
        b'{"kind":"tracking","shipment_id":NaN,"status":"x"}',
        b'{"kind":"tracking","shipment_id":1e400,"status":"x"}',
        b'{"kind":"tracking","shipment_id":5,"status":"\\u0000"}',
        b'{"kind":"tracking","shipment_id":5,"status":"\\ud800"}',
        b'{"kind":"tracking","shipment_id":99999999999999999999,"status":"x"}',
        b'{"kind":"tracking","shipment_id":5,"status":"x","occurred_at":"9999-12-31T23:59:59-23:59"}',
        b"\x00",
        b"\xef\xbb\xbf{}",
    ],
)
def test_odd_lines_are_bad_lines(company: Company, post: Post, line: bytes) -> None:
    answer = post(text(shipment(5, company.pk), line, tracking(5, "Lost")))

    assert answer.status_code == 200
    assert (answer.json()["changed"], answer.json()["bad"][0]["line"]) == (2, 2)
    assert len(answer.content) < 1000


# The description


def test_is_described_as_it_answers(company: Company, post: Post) -> None:
    operation = description()["paths"]["/platform/feed"]["post"]
    (example,) = operation["requestBody"]["content"][LINES]["examples"].values()
    lines = example["value"].replace('"company_id": 1', f'"company_id": {company.pk}')

    answer = post(lines.encode())

    assert answer.json() == report(2, 2, 1)
    conforms(answer.json(), response_schema(operation, "200"))
    has_headers(answer, operation["responses"]["200"])
    assert operation["security"] == [{"platformToken": []}]
    for status in ("400", "413", "415"):
        assert status in operation["responses"]


def response_schema(operation: dict[str, Any], status: str) -> dict[str, Any]:
    return operation["responses"][status]["content"]["application/json"]["schema"]


def test_refuses_in_the_shape_it_describes(post: Post) -> None:
    operation = description()["paths"]["/platform/feed"]["post"]
    answers = [
        post(b"x", Content_Encoding="gzip"),
        post(b"x", kind="text/plain"),
        post(b"\n", Idempotency_Key="é"),
        poster(Client())(b""),
    ]

    assert [answer.status_code for answer in answers] == [400, 415, 422, 401]
    for answer in answers:
        conforms(answer.json(), response_schema(operation, str(answer.status_code)))
