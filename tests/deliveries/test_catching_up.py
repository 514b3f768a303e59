"""A mended receiver catches up: waiting deliveries are sent as soon as it works again (N1)."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing, redelivery
from deliveries.models import Delivery, Health, State, Wakeup
from deliveries.redelivery import BEGINNING, Walks
from tests import builders as build
from tests.sending import deliver, pass_time
from tools.faults.receiver import Answer, Received, Receiver
from webhooks import services
from webhooks.models import Webhook
from webhooks.targets import Policy

HOUR = timedelta(hours=1)
A_MINUTE = timedelta(minutes=1)
Deliver = Callable[[], list[bytes]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def webhook(company: Company, receiver: Receiver) -> Webhook:
    return build.webhook(company, url=receiver.url)


@pytest.fixture
def send(receiver: Receiver, loopback: Policy) -> Deliver:
    """Return a function that sends what is due now and returns the received bodies, in order."""

    def run() -> list[bytes]:
        receiver.log.clear()
        deliver(loopback)
        return [received.body for received in receiver.log]

    return run


def publish(company: Company, *shipments: int | None, first: int = 0) -> None:
    publishing.publish(
        [
            build.news(company, shipment, body=b"%d" % number)
            for number, shipment in enumerate(shipments, start=first)
        ]
    )


def fail_for_hours(send: Deliver, receiver: Receiver) -> None:
    """Fail three times, the last an hour after the first: the next retry is half an hour away."""
    receiver.answer = lambda _: Answer(500)
    for wait in (timedelta(seconds=6), HOUR, timedelta()):
        send()
        pass_time(wait)


def mend(receiver: Receiver) -> None:
    receiver.answer = lambda _: Answer()


def steps() -> list[int]:
    return list(Delivery.objects.order_by("event_id").values_list("step", flat=True))


def due() -> list[datetime]:
    return list(Delivery.objects.order_by("event_id").values_list("due_at", flat=True))


def recover(webhook: Webhook) -> int:
    return redelivery.recover(webhook.pk, since=timezone.now() - HOUR)


def test_recover_sends_what_waits_now_and_in_order(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    publish(company, 1, 1, 1, 2, None)
    fail_for_hours(send, receiver)
    # The first blocked its shipment for an hour, then the second went; the third waits for it.
    assert steps() == [3, 1, 0, 3, 3]
    mend(receiver)
    assert send() == []

    assert recover(webhook) == 5
    arrived = send()

    assert sorted(arrived) == [b"0", b"1", b"2", b"3", b"4"]
    assert [body for body in arrived if body in b"012"] == [b"0", b"1", b"2"]
    assert not Delivery.objects.open().exists()


def test_recover_counts_all_that_is_not_delivered_in_the_window(
    api: APIClient, company: Company, birch: Company, receiver: Receiver, send: Deliver
) -> None:
    mine, other = (build.webhook(company, url=receiver.url) for _ in range(2))
    foreign = build.webhook(birch, url=receiver.url)
    publish(company, 1, 1, 2, 3)
    publish(birch, 1, 2)
    given_up, _, delivered, waiting = Delivery.objects.filter(webhook=mine).order_by("event_id")
    finished = {"finished_at": timezone.now(), "archived_on": timezone.now().date()}
    for one, state in [(given_up, State.GIVEN_UP), (delivered, State.DELIVERED)]:
        Delivery.objects.filter(pk=one.pk).update(state=state, **finished)
    later = timezone.now() + HOUR
    Delivery.objects.open().exclude(webhook=mine).update(due_at=later, step=2)
    Delivery.objects.filter(pk=waiting.pk).update(due_at=later, step=2)
    since = given_up.created_at.isoformat()

    answer = api.post(f"/webhooks/{mine.pk}/recover", {"since": since})
    none = api.post(f"/webhooks/{mine.pk}/recover", {"since": since, "until": since})

    assert answer.json() == {"data": {"redelivered": 3}}
    assert none.json() == {"data": {"redelivered": 0}}
    untouched = Delivery.objects.filter(webhook__in=[other, foreign])
    assert set(untouched.values_list("due_at", "own_due_at")) == {(later, None)}
    assert sorted(send()) == [b"0", b"1", b"3"]


@pytest.mark.parametrize("part", [1, 2, 100])
def test_recover_goes_part_by_part_in_the_order_of_events(
    company: Company,
    webhook: Webhook,
    receiver: Receiver,
    send: Deliver,
    monkeypatch: pytest.MonkeyPatch,
    part: int,
) -> None:
    """Mix given up and waiting ones of one shipment: the older is never sent after the newer."""
    monkeypatch.setattr(redelivery, "BATCH", part)
    publish(company, *[1] * 6)
    hours_ago = timezone.now() - 3 * HOUR
    Delivery.objects.update(step=4, due_at=timezone.now() + HOUR, first_attempt_at=hours_ago)
    for number, one in enumerate(Delivery.objects.order_by("event_id")):
        if number % 2:
            Delivery.objects.filter(pk=one.pk).update(
                state=State.GIVEN_UP, archived_on=timezone.now().date()
            )
    parts = []
    once = redelivery.send_now
    monkeypatch.setattr(
        redelivery,
        "send_now",
        lambda each: (parts.append([one.event_id for one in each]), once(each)),
    )

    assert recover(webhook) == 6

    walked = [event_id for each in parts for event_id in each]
    assert walked == sorted(walked)
    assert len(parts) == -(-6 // part)
    # Each wakes the next: none waits for the second for which it was parked.
    assert send() == [b"%d" % number for number in range(6)]


def test_delivery_that_fails_again_keeps_its_place_and_retry_time(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    publish(company, 1)
    fail_for_hours(send, receiver)
    (own,) = due()
    for _ in range(3):
        assert recover(webhook) == 1
        assert send() == [b"0"]

        assert (steps(), due()) == ([3], [own])
    assert Delivery.objects.get().attempts == 6

    pass_time(own - timezone.now())
    assert send() == [b"0"]
    assert steps() == [4]
    assert due()[0] > timezone.now() + timedelta(hours=1, minutes=59)


def test_last_attempt_is_not_pulled_forward(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    publish(company, 1)
    receiver.answer = lambda _: Answer(500)
    Delivery.objects.update(step=9, due_at=timezone.now() + 20 * HOUR)

    recover(webhook)
    send()

    assert Delivery.objects.get().state == State.WAITING
    pass_time(20 * HOUR)
    assert send() == [b"0"]
    assert Delivery.objects.get().state == State.GIVEN_UP


@pytest.mark.parametrize(("failures", "rests"), [(5, 0), (3, 1)])
def test_the_first_success_pulls_retries_forward(
    company: Company, webhook: Webhook, send: Deliver, failures: int, rests: int
) -> None:
    Webhook.objects.update(max_in_flight=1)
    publish(company, 1, 2, 3)
    Delivery.objects.update(step=2, due_at=timezone.now() + HOUR)
    Health.objects.create(webhook=webhook, failures=failures, rests=rests)
    publish(company, 4, first=3)

    assert send() == [b"3", b"0", b"1", b"2"]
    health = Health.objects.get()
    assert (health.failures, health.rests, health.catch_up_before) == (0, 0, None)


def test_after_fewer_failures_retries_keep_their_time(
    company: Company, webhook: Webhook, send: Deliver
) -> None:
    publish(company, 1)
    Delivery.objects.update(step=2, due_at=timezone.now() + HOUR)
    Health.objects.create(webhook=webhook, failures=4)
    publish(company, 2, first=1)

    assert send() == [b"1"]


def test_delivery_that_keeps_failing_is_pulled_forward_once(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    """Save its retries, while the webhook takes the rest."""

    def answer(received: Received) -> Answer:
        return Answer(422 if received.body == b"0" else 200)

    receiver.answer = answer
    publish(company, 1)
    own = timezone.now() + HOUR
    Delivery.objects.update(step=2, due_at=own)
    for number in range(1, 4):
        Health.objects.update_or_create(webhook=webhook, defaults={"failures": 9})
        publish(company, 10 + number, first=number)
        assert send() == [b"%d" % number] + [b"0"] * (number == 1)

    refused = Delivery.objects.open().get()
    assert (refused.step, refused.due_at, refused.attempts) == (2, own, 1)


def test_resuming_pulls_retries_forward(
    api: APIClient, company: Company, webhook: Webhook, send: Deliver
) -> None:
    other = build.webhook(company, url=webhook.url)
    publish(company, 1, 1)
    Delivery.objects.update(
        step=3, due_at=timezone.now() + HOUR, first_attempt_at=timezone.now() - 2 * HOUR
    )
    services.pause(webhook.pk, "for a test")
    assert send() == []

    assert api.put(f"/webhooks/{webhook.pk}", {"active": 1}).status_code == 200

    assert send() == [b"0", b"1"]
    assert set(Delivery.objects.filter(webhook=other).values_list("attempts", flat=True)) == {0}


def test_nothing_is_pulled_ahead_of_a_retry_after(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    receiver.answer = lambda _: Answer(503, (("Retry-After", "7200"),))
    publish(company, 1)
    send()
    due_times = due()
    # The webhook's rest is over, but not the Retry-After of this delivery.
    Health.objects.update(resting_until=None, asked_until=None)
    mend(receiver)

    assert recover(webhook) == 1
    services.pause(webhook.pk, "for a test")
    services.resume(webhook.pk)
    Health.objects.update(failures=9)
    publish(company, 2, first=1)

    assert send() == [b"1"]
    assert Delivery.objects.open().get().due_at == due_times[0]
    pass_time(2 * HOUR)
    assert send() == [b"0"]


def test_a_shorter_retry_after_is_over_before_the_wait(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    receiver.answer = lambda _: Answer(429, (("Retry-After", "60"),))
    publish(company, 1)
    Delivery.objects.update(step=3)
    send()
    mend(receiver)
    recover(webhook)
    assert send() == []

    pass_time(timedelta(seconds=61))
    recover(webhook)

    assert send() == [b"0"]


def test_recovering_ends_a_rest_but_not_one_that_was_asked_for(
    company: Company, webhook: Webhook, receiver: Receiver, send: Deliver
) -> None:
    publish(company, 1)
    later = timezone.now() + A_MINUTE
    Health.objects.create(webhook=webhook, failures=9, rests=3, resting_until=later)
    assert send() == []

    Health.objects.update(asked_until=later - timedelta(seconds=20))
    recover(webhook)
    assert Health.objects.get().resting_until == later - timedelta(seconds=20)
    assert send() == []

    Health.objects.update(asked_until=None)
    recover(webhook)
    assert send() == [b"0"]


def test_walks_in_parts_from_the_oldest_and_begins_anew_where_it_was_interrupted(
    company: Company, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redelivery, "PART", 3)
    publish(company, *range(7))
    Delivery.objects.update(step=1, due_at=timezone.now() + HOUR)
    redelivery.catch_up(webhook.pk)
    Wakeup.objects.all().delete()
    before = Health.objects.get().catch_up_before
    assert before is not None
    wanted = {webhook.pk: before}

    def pulled() -> list[bool]:
        return [one.own_due_at is not None for one in Delivery.objects.order_by("event_id")]

    first = Walks()
    assert first.go_on(wanted) == {webhook.pk}
    assert pulled() == [True] * 3 + [False] * 4
    assert Wakeup.objects.filter(webhook_id=webhook.pk).exists()

    second = Walks()
    assert [second.go_on(wanted), second.go_on(wanted)] == [{webhook.pk}] * 2
    assert pulled() == [True] * 6 + [False]
    assert second.go_on(wanted) == set()
    assert pulled() == [True] * 7
    assert Health.objects.get().catch_up_before is None


def test_a_walk_that_is_asked_for_again_begins_anew(company: Company, webhook: Webhook) -> None:
    publish(company, 1)
    Delivery.objects.update(step=1, due_at=timezone.now() + HOUR)
    redelivery.catch_up(webhook.pk)
    earlier = Health.objects.get().catch_up_before
    assert earlier is not None
    later = earlier + HOUR
    Health.objects.update(catch_up_before=later)

    assert redelivery.go_on(webhook.pk, earlier, BEGINNING) is None
    assert Health.objects.get().catch_up_before == later


def test_many_webhooks_at_once_take_turns(company: Company) -> None:
    webhooks = [build.webhook(company) for _ in range(Walks.AT_ONCE + 2)]
    for each in webhooks:
        redelivery.catch_up(each.pk)
    wanted = dict(Health.objects.values_list("webhook_id", "catch_up_before"))

    more = Walks().go_on(wanted)

    assert len(more) == 2
    assert set(Health.objects.exclude(catch_up_before=None).values_list("pk", flat=True)) == more


def test_a_webhook_that_is_well_is_never_looked_at_for_it(
    company: Company, webhook: Webhook, send: Deliver, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked: list[int] = []
    monkeypatch.setattr(redelivery, "go_on", lambda webhook_id, *_: walked.append(webhook_id))
    publish(company, *range(20))

    assert len(send()) == 20

    assert walked == []
    assert not Health.objects.exists()


def test_pulling_leaves_what_is_due_and_first_attempts_alone(
    company: Company, webhook: Webhook
) -> None:
    publish(company, 1, 2)
    fresh, retry = Delivery.objects.order_by("event_id")
    later = timezone.now() + HOUR
    Delivery.objects.filter(pk=fresh.pk).update(due_at=later)
    before = timezone.now() - A_MINUTE
    Delivery.objects.filter(pk=retry.pk).update(due_at=before, step=1)

    ids: list[UUID] = [fresh.pk, retry.pk]
    redelivery.pull(ids, again=True)

    assert due() == [later, before]
    assert set(Delivery.objects.values_list("own_due_at", flat=True)) == {None}
