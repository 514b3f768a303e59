"""A company may request a delivery again 100 times a day, by whichever endpoint (decision N26)."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing, redelivery
from deliveries.models import Attempt, Delivery, State
from deliveries.redelivery import MOST_A_DAY
from tests import builders as build
from tests.sending import claim, deliver
from tools.faults.receiver import Answer, Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy

A_DAY = timedelta(days=1)


@pytest.fixture
def webhook(company: Company, receiver: Receiver) -> Webhook:
    return build.webhook(company, url=receiver.url)


@pytest.fixture
def delivery(webhook: Webhook) -> Delivery:
    publishing.publish([build.news(webhook.company)])
    return Delivery.objects.get()


def ask(api: APIClient, delivery: Delivery) -> HttpResponse:
    return api.post(f"/deliveries/{delivery.pk}/redeliver")


def recover(api: APIClient, webhook: Webhook) -> HttpResponse:
    return api.post(f"/webhooks/{webhook.pk}/recover", {"since": "2026-01-01"})


def spend(delivery: Delivery, times: int = MOST_A_DAY) -> None:
    """Record this many requests for today."""
    today = timezone.now().astimezone(UTC).date()
    Delivery.objects.filter(pk=delivery.pk).update(asked_on=today, asked_times=times)


def give_up() -> None:
    """Give up all deliveries, as after the last attempt."""
    Delivery.objects.update(state=State.GIVEN_UP, archived_on=timezone.now().date())


def refused(answer: HttpResponse) -> bool:
    if answer.status_code == 200:
        return False
    assert answer.status_code == 429
    assert answer.json()["code"] == "redelivery_limit"
    assert 1 <= int(answer["Retry-After"]) <= 86400
    return True


def test_the_hundred_and_first_time_of_a_day_is_refused(api: APIClient, delivery: Delivery) -> None:
    assert not refused(ask(api, delivery))
    assert Delivery.objects.get().asked_times == 1
    spend(delivery, MOST_A_DAY - 1)

    answers = [ask(api, delivery) for _ in range(3)]

    assert MOST_A_DAY == 100
    assert [refused(answer) for answer in answers] == [False, True, True]


def test_delivery_in_flight_counts_and_is_not_changed(api: APIClient, delivery: Delivery) -> None:
    (claimed,) = claim()
    spend(delivery, MOST_A_DAY - 1)

    answers = [ask(api, delivery) for _ in range(2)]

    assert [refused(answer) for answer in answers] == [False, True]
    assert str(Delivery.objects.get().claimed_by) == claimed.claim


def test_the_next_day_begins_anew(api: APIClient, delivery: Delivery) -> None:
    spend(delivery)
    assert refused(ask(api, delivery))

    Delivery.objects.update(asked_on=F("asked_on") - A_DAY)

    assert not refused(ask(api, delivery))
    assert Delivery.objects.get().asked_times == 1


def test_retry_after_ends_with_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    monkeypatch.setattr(redelivery.timezone, "now", lambda: noon)

    assert 0 < redelivery.AskedTooOften().wait - 12 * 3600 <= 1


def test_a_refusal_changes_nothing_and_another_delivery_is_free(
    api: APIClient, webhook: Webhook, loopback: Policy
) -> None:
    publishing.publish([build.news(webhook.company, shipment) for shipment in (1, 2)])
    deliver(loopback)
    spent, other = Delivery.objects.order_by("event_id")
    spend(spent)
    before = Delivery.objects.filter(pk=spent.pk).values().get()

    assert refused(ask(api, spent))
    assert not refused(ask(api, other))

    assert Delivery.objects.filter(pk=spent.pk).values().get() == before


def test_a_recovery_counts_what_it_sends_again(
    api: APIClient, delivery: Delivery, receiver: Receiver, loopback: Policy
) -> None:
    receiver.answer = lambda _: Answer(500)
    deliver(loopback)
    give_up()

    for _ in range(2):
        assert recover(api, delivery.webhook).json() == {"data": {"redelivered": 1}}
        deliver(loopback)

    # It was given up the first time, and waited for a retry the second time.
    assert Delivery.objects.get().asked_times == 2
    assert Attempt.objects.count() == 3


@pytest.mark.parametrize("given_up", [False, True])
def test_a_recovery_leaves_out_what_was_asked_for_too_often(
    api: APIClient, webhook: Webhook, receiver: Receiver, loopback: Policy, given_up: bool
) -> None:
    receiver.answer = lambda _: Answer(500)
    publishing.publish([build.news(webhook.company, shipment) for shipment in (1, 2)])
    deliver(loopback)
    if given_up:
        give_up()
    spent, other = Delivery.objects.order_by("event_id")
    spend(spent)

    answer = recover(api, webhook)
    deliver(loopback)

    assert answer.json() == {"data": {"redelivered": 1}}
    assert dict(Delivery.objects.values_list("pk", "attempts")) == {spent.pk: 1, other.pk: 2}
    spend(other)
    assert refused(recover(api, webhook))


def test_waiting_delivery_is_recovered_without_limit(api: APIClient, delivery: Delivery) -> None:
    """Count nothing: it is sent once, however often it is requested."""
    for _ in range(3):
        assert not refused(recover(api, delivery.webhook))

    assert Delivery.objects.get().asked_times == 0


def test_operators_and_the_desk_are_not_counted(delivery: Delivery) -> None:
    spend(delivery)

    assert redelivery.redeliver([delivery.pk]) == 1

    assert Delivery.objects.get().asked_times == MOST_A_DAY


def test_pausing_and_resuming_adds_no_attempts(
    api: APIClient, delivery: Delivery, receiver: Receiver, loopback: Policy
) -> None:
    receiver.answer = lambda _: Answer(500)
    deliver(loopback)

    for _ in range(3):
        for active in (0, 1):
            api.put(f"/webhooks/{delivery.webhook_id}", {"active": active})
        deliver(loopback)

    # It is pulled forward once, and then waits for its own next retry.
    assert Delivery.objects.get().attempts == 2


def test_a_counter_that_is_full_stays_full(delivery: Delivery, loopback: Policy) -> None:
    Delivery.objects.update(attempts=32767)

    deliver(loopback)

    assert Delivery.objects.get().state == State.DELIVERED
