"""A delivery that the sending process does not survive, among others."""

import json
from contextlib import closing
from datetime import timedelta

from django.utils import timezone

from companies.models import Company
from deliveries import publishing, redelivery
from deliveries.engine import claiming, leases
from deliveries.http.transport import Request, Transport
from deliveries.models import Attempt, Delivery, Loop, State
from faults.receiver import Receiver
from tests import builders as build
from tests.sending import claim, deliver, engine
from webhooks.targets import Policy

POISON = 7
EVENTS = 30


class Crash(BaseException):
    """The process is gone: nothing after it is done."""


def lose_loops() -> None:
    """As others do when a heartbeat has stopped."""
    Loop.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    leases.take_over()


def shipment_in(body: bytes) -> int:
    number: int = json.loads(body)["data"]["shipment_id"]
    return number


class Fragile(Transport):
    """Does not survive the poison."""

    def start(self, request: Request) -> None:
        if shipment_in(request.body) == POISON:
            raise Crash
        super().start(request)


def crash_until_idle(policy: Policy) -> int:
    """Send with one loop after the other; returns how many did not survive it."""
    for crashes in range(10):
        with closing(Fragile(policy, concurrency=64)) as transport:
            try:
                engine(transport).run(until_idle=True)
            except Crash:
                lose_loops()
            else:
                return crashes
    raise AssertionError("it is tried for ever")


def test_is_set_aside_after_three_crashes_and_harms_no_other(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, number) for number in range(EVENTS)])

    assert crash_until_idle(loopback) == claiming.MOST_CRASHES

    states = dict(Delivery.objects.values_list("subject", "state"))
    poison = Delivery.objects.get(subject=POISON)
    assert states.pop(POISON) == State.GIVEN_UP
    assert set(states.values()) == {State.DELIVERED}
    assert {shipment_in(each.body) for each in receiver.log} == set(states)
    assert poison.last_error == "internal"
    attempt = Attempt.objects.get(delivery_id=poison.pk)
    assert attempt.number == poison.attempts == 1
    assert attempt.detail == "The sending process ended 3 times while it had this delivery."


def test_is_sent_after_all_once_it_is_sent_again(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    """What was wrong with us has been mended."""
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, POISON)])
    crash_until_idle(loopback)

    redelivery.redeliver([Delivery.objects.get().pk])
    deliver(loopback)

    assert Delivery.objects.get().state == State.DELIVERED


def test_a_suspect_is_claimed_alone(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(5)])
    for crashes in (0, 1):
        assert {each.crashes for each in claim()} == {crashes}
        lose_loops()

    first = claim()

    assert [each.crashes for each in first] == [2]
    assert claiming.claim(first[0].claim, {first[0].webhook_id: 9}, suspect=False).claimed == []


def test_an_attempt_that_is_recorded_clears_it(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=f"{receiver.url}/500")
    publishing.publish([build.news(company)])
    claim()
    lose_loops()

    deliver(loopback)

    assert Delivery.objects.get().attempts == 1
    assert Delivery.objects.get().crashes == 0
