"""The engine end to end: a row is sent to a receiver over a real socket, and recorded."""

import json
import threading
import time
from contextlib import closing
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from core.models import Mail
from deliveries import publishing
from deliveries.engine import leases, loop, recording, rendering, signature_check
from deliveries.engine.loans import Claimed
from deliveries.engine.pace import FIRST_SIZE
from deliveries.engine.recording import AttemptResult
from deliveries.engine.signing import sign, timestamp_ms
from deliveries.http.transport import Request, Transport
from deliveries.models import Attempt, Delivery, Health, State
from tests import builders as build
from tests.sending import deliver, engine, make_due, wake_all
from tools.faults.receiver import Answer, Received, Receiver
from webhooks.targets import Policy


def test_sends_the_stored_bytes_signed(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    webhook = build.webhook(company, url=f"{receiver.url}/in", auth_token="tok-1")
    publishing.publish([build.news(company, body='{"a":"León"}'.encode())])

    assert deliver(loopback) == 1

    (received,) = receiver.log
    delivery = Delivery.objects.get()
    headers = received.headers
    assert received.body == '{"a":"León"}'.encode()
    assert headers["Content-Type"] == "application/json"
    assert headers["Authorization"] == "Bearer tok-1"
    assert headers["User-Agent"] == "parceldesk/1.0.0"
    assert headers["X-Webhook-Id"] == str(delivery.pk)
    assert headers["X-Webhook-Event"] == "tracking.simple"
    assert headers["X-Webhook-Version"] == "2025-09-01"
    timestamp = int(headers["X-Webhook-Timestamp"])
    assert abs(timestamp / 1000 - received.at) < 60
    # The log has the signed instant, from which the signature can be recreated.
    attempt = Attempt.objects.get()
    assert timestamp_ms(attempt.started_at) == timestamp
    again = signature_check.recreate_signature(webhook, received.body, attempt, timezone.now())
    assert again == (str(timestamp), headers["X-Webhook-Signature"])
    assert headers["X-Webhook-Signature"] == sign(
        webhook.secret, timestamp, "tracking.simple", received.body
    )
    assert delivery.state == State.DELIVERED


@pytest.mark.parametrize("type_id", [1, 2])
def test_sends_legacy_types_bare(
    company: Company, receiver: Receiver, loopback: Policy, type_id: int
) -> None:
    build.webhook(company, type_id=type_id, url=receiver.url)
    publishing.publish([build.news(company, type=type_id)])

    deliver(loopback)

    (received,) = receiver.log
    assert not [name for name in received.headers if name.startswith("X-")]
    assert "Authorization" not in received.headers


@pytest.mark.parametrize("status", [199, 301, 307, 400, 401, 404, 500, 503])
def test_takes_nothing_but_2xx_for_success(
    company: Company, receiver: Receiver, loopback: Policy, status: int
) -> None:
    receiver.answer = lambda _: Answer(status, headers=(("Location", receiver.url),))
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])
    before = timezone.now()

    deliver(loopback, timeout_seconds=2.0)

    delivery = Delivery.objects.get()
    assert len(receiver.log) == 1
    assert (delivery.state, delivery.attempts) == (State.WAITING, 1)
    assert delivery.due_at > before + timedelta(seconds=4)


def test_repeats_with_the_same_id_and_bytes_until_it_gives_up(
    company: Company, receiver: Receiver, loopback: Policy, settings: Settings
) -> None:
    settings.DELIVERY_RETRY_SECONDS = (5, 10)
    receiver.answer = lambda _: Answer(500, body=b"out of order")
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])

    for _ in range(5):
        deliver(loopback)
        make_due()

    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (State.GIVEN_UP, 3)
    assert {received.headers["X-Webhook-Id"] for received in receiver.log} == {str(delivery.pk)}
    assert len({received.body for received in receiver.log}) == 1
    assert len({received.headers["X-Webhook-Timestamp"] for received in receiver.log}) == 3
    attempts = Attempt.objects.order_by("number")
    assert [(each.number, each.status) for each in attempts] == [(1, 500), (2, 500), (3, 500)]
    assert bytes(attempts[0].answer) == b"out of order"


def test_waits_as_long_as_a_busy_receiver_asks(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    receiver.answer = lambda _: Answer(429, headers=(("Retry-After", "600"),))
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])

    deliver(loopback)

    wait = Delivery.objects.get().due_at - timezone.now()
    assert timedelta(seconds=590) < wait < timedelta(seconds=700)


def test_leaves_a_busy_receiver_alone_for_up_to_five_minutes(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    receiver.answer = lambda _: Answer(429, headers=(("Retry-After", "600"),))
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, shipment) for shipment in range(20)])

    deliver(loopback)

    met = len(receiver.log)
    assert met <= FIRST_SIZE
    resting = Health.objects.get().resting_until - timezone.now()
    assert timedelta(seconds=280) < resting <= timedelta(seconds=300)

    deliver(loopback)
    assert len(receiver.log) == met

    Health.objects.update(resting_until=timezone.now())
    wake_all()
    receiver.answer = lambda _: Answer(200)
    deliver(loopback)
    assert Delivery.objects.open().count() == met


def test_pauses_a_webhook_that_is_gone(
    company: Company, receiver: Receiver, loopback: Policy, mailoutbox: list
) -> None:
    company.contact_email = "dev@acme.example"
    company.save()
    receiver.answer = lambda _: Answer(410)
    webhook = build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])

    deliver(loopback)

    webhook.refresh_from_db()
    assert (webhook.active, webhook.paused_reason) == (False, "The receiver answered 410 Gone.")
    assert Delivery.objects.get().state == State.WAITING
    assert (Mail.objects.get().address, mailoutbox) == ("dev@acme.example", [])


def test_tells_a_shipment_s_story_in_order_through_failures(
    company: Company, receiver: Receiver, loopback: Policy, settings: Settings
) -> None:
    settings.DELIVERY_RETRY_SECONDS = (1,) * 100
    failing = iter([True, True, False] * 100)
    receiver.answer = lambda _: Answer(500 if next(failing) else 200)
    build.webhook(company, url=receiver.url)
    news = [
        build.news(company, shipment, body=json.dumps([shipment, step]).encode())
        for step in range(5)
        for shipment in range(4)
    ]
    publishing.publish(news)

    for _ in range(100):
        deliver(loopback)
        make_due()
        if not Delivery.objects.open().exists():
            break

    steps_by_shipment: dict[int, list[int]] = {}
    for received in receiver.log:
        shipment, step = json.loads(received.body)
        steps = steps_by_shipment.setdefault(shipment, [])
        if not steps or steps[-1] != step:
            steps.append(step)
    assert steps_by_shipment == {shipment: [0, 1, 2, 3, 4] for shipment in range(4)}
    assert Delivery.objects.filter(state=State.DELIVERED).count() == 20


def test_drains_a_backlog(company: Company, receiver: Receiver, loopback: Policy) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, n) for n in range(500)])

    assert deliver(loopback) == 500
    assert not Delivery.objects.open().exists()
    assert Attempt.objects.filter(number=F("delivery__attempts")).count() == 500
    assert len({received.headers["X-Webhook-Id"] for received in receiver.log}) == 500


def test_stops_without_claiming_when_told_to(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])

    with closing(Transport(loopback, concurrency=8)) as transport:
        assert engine(transport, stop=lambda: True).run() == 0

    assert receiver.log == []
    assert Delivery.objects.get().claimed_by is None


def test_never_connects_to_a_forbidden_address(company: Company, receiver: Receiver) -> None:
    build.webhook(company, url=f"https://127.0.0.1:{receiver.port}/")
    publishing.publish([build.news(company)])

    deliver(Policy())

    assert receiver.log == []
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.error) == (None, "bad_target")


def test_one_result_that_cannot_be_written_down_harms_no_other(
    transactional_db: None,
    company: Company,
    birch: Company,
    receiver: Receiver,
    loopback: Policy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build.webhook(company, url=f"{receiver.url}/a")
    build.webhook(birch, url=f"{receiver.url}/b")
    news = [build.news(each, n) for n in range(20) for each in (company, birch)]
    publishing.publish(news)
    poisoned = Delivery.objects.order_by("event_id")[7]
    as_json = recording.result_as_json

    def impossible(result: AttemptResult) -> dict[str, Any]:
        columns = as_json(result)
        return columns | {"status": 99999} if columns["id"] == str(poisoned.pk) else columns

    monkeypatch.setattr(recording, "result_as_json", impossible)

    deliver(loopback)

    assert Delivery.objects.filter(state=State.DELIVERED).count() == 39
    poisoned.refresh_from_db()
    assert (poisoned.state, poisoned.last_error) == (State.GIVEN_UP, "internal")
    attempt = Attempt.objects.get(delivery=poisoned)
    assert attempt.detail.startswith("The result could not be recorded: ")
    assert "out of range" in attempt.detail


def test_one_delivery_that_cannot_be_rendered_harms_no_other(
    company: Company, receiver: Receiver, loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, n) for n in range(5)])
    render = rendering.render

    def fail_once(delivery: Claimed, *options: object) -> Request:
        if delivery.subject_id == 3:
            raise MemoryError("for a test")
        return render(delivery, *options)

    monkeypatch.setattr(rendering, "render", fail_once)

    deliver(loopback)

    assert Delivery.objects.filter(state=State.DELIVERED).count() == 4
    failed = Attempt.objects.get(error="internal")
    assert failed.detail == "for a test"


@pytest.mark.parametrize("place", ["between two waits", "in a wait"])
def test_hanging_loop_is_no_failure_of_the_receiver(
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    """Hang the loop while the receiver answers in good time."""
    hung = threading.Event()

    def answer(_: Received) -> Answer:
        hung.wait()
        return Answer(200)

    receiver.answer = answer
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])

    def hang_once() -> bool:
        if receiver.log and not hung.is_set():
            hung.set()
            time.sleep(2.5)
        return False

    def hang_once_and_poll(seconds: float) -> list[tuple[int, int]]:
        hang_once()
        return poll(seconds)

    with closing(Transport(loopback, concurrency=8, timeout_seconds=1.0)) as transport:
        poll = transport._sockets.ready
        if place == "in a wait":
            monkeypatch.setattr(transport._sockets, "ready", hang_once_and_poll)
            engine(transport).run(until_idle=True)
        else:
            engine(transport, stop=hang_once).run(until_idle=True)

    assert hung.is_set()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (State.DELIVERED, 1)
    assert not Health.objects.exists()
    assert len({received.headers["X-Webhook-Id"] for received in receiver.log}) == 1


def test_a_loop_that_was_away_sends_nothing_that_others_may_have_taken_over(
    company: Company, receiver: Receiver, loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hang the loop with one delivery started and one claimed, until its lease has run out."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.3)
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(loop, "STARTS_AT_ONCE", 1)
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, shipment_id=each) for each in (1, 2)])
    other = uuid4()
    hung: list[int] = []

    def hang_once() -> bool:
        if sender.slots.holding == 1 and not Delivery.objects.filter(claimed_by=other).exists():
            hung.append(sender.slots.holding)
            time.sleep(0.5)
            leases.take_over()
            Delivery.objects.open().update(claimed_by=other)
        return False

    with closing(Transport(loopback, concurrency=8)) as transport:
        sender = engine(transport, stop=hang_once)
        sender.run(until_idle=True)

    assert Delivery.objects.open().filter(claimed_by=other).count() == 2
    assert {json.loads(each.body)["data"]["shipment_id"] for each in receiver.log} <= {1}
    # It hung as intended, with the first of the two under way.
    assert hung == [1]


def test_delivery_taken_over_before_its_first_byte_is_not_sent(
    company: Company, receiver: Receiver, loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hang the loop between starting a request and its first byte."""
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.3)
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.01)
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])
    other = uuid4()

    with closing(Transport(loopback, concurrency=8)) as transport:
        start = transport.start

        def start_and_hang(request: Request) -> None:
            start(request)
            time.sleep(0.5)
            leases.take_over()
            Delivery.objects.open().update(claimed_by=other)

        monkeypatch.setattr(transport, "start", start_and_hang)
        engine(transport).run(until_idle=True)

    assert Delivery.objects.open().filter(claimed_by=other).count() == 1
    assert receiver.log == []
    assert not Attempt.objects.exists()
