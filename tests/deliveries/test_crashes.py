"""A delivery that kills the process that sends it, among others."""

import json
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from companies.models import Company
from core import doctor_checks
from core.measures import sums
from core.models import FailedRow
from core.watch.doctor import Concern
from deliveries import publishing, redelivery
from deliveries.engine import claiming, leases, pausing, quarantine, setting_aside
from deliveries.engine.lending import Loans
from deliveries.engine.quarantine import Suspects
from deliveries.engine.turn import ClaimBatch
from deliveries.http.transport import Request, Transport
from deliveries.models import Attempt, Delivery, Health, Heartbeat, Loop, Quarantine, State
from deliveries.monitoring import queue_picture
from tests import builders as build
from tests.sending import claim, deliver, engine, loop_id
from tools.faults.receiver import Receiver
from webhooks import services
from webhooks.targets import Policy

POISON = 7
EVENTS = 30


class Crash(BaseException):
    """The process dies: nothing after this runs."""


def lose_loops() -> None:
    """Declare all loops lost, as others do when heartbeats have stopped."""
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    leases.take_over()


def shipment_in(body: bytes) -> int:
    number: int = json.loads(body)["data"]["shipment_id"]
    return number


Kills = Callable[[Request], bool]


def is_poison(request: Request) -> bool:
    return shipment_in(request.body) == POISON


class Fragile(Transport):
    """Transport whose process dies at certain requests."""

    kills: Kills = staticmethod(is_poison)

    def start(self, request: Request) -> None:
        if self.kills(request):
            raise Crash
        super().start(request)


def crash_until_idle(policy: Policy, kills: Kills = is_poison) -> int:
    """Send with one loop after the other; returns how many crashed."""
    for crashes in range(20):
        with closing(Fragile(policy, concurrency=64)) as transport:
            transport.kills = kills
            try:
                engine(transport).run(until_idle=True)
            except Crash:
                lose_loops()
            else:
                return crashes
    raise AssertionError("it is tried for ever")


def test_is_set_aside_after_four_crashes_and_harms_no_other(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, number) for number in range(EVENTS)])

    assert crash_until_idle(loopback) == claiming.MOST_CRASHES

    states = dict(Delivery.objects.values_list("subject_id", "state"))
    poison = Delivery.objects.get(subject_id=POISON)
    assert states.pop(POISON) == State.GIVEN_UP
    assert set(states.values()) == {State.DELIVERED}
    assert {shipment_in(each.body) for each in receiver.log} == set(states)
    assert poison.last_error == "internal"
    attempt = Attempt.objects.get(delivery_id=poison.pk)
    assert attempt.number == poison.attempts == 1
    assert attempt.detail == "The sending process ended 4 times while it had this delivery."


def test_is_sent_after_all_once_it_is_sent_again(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    """Send it after a fix of ours."""
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, POISON)])
    crash_until_idle(loopback)

    assert FailedRow.objects.filter(kind="delivery").count() == 1

    redelivery.redeliver([Delivery.objects.get().pk])
    deliver(loopback)

    assert Delivery.objects.get().state == State.DELIVERED
    assert not FailedRow.objects.exists()


def test_a_receiver_that_kills_the_worker_is_found_and_harms_no_other(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    """End everything in flight, of two companies, at every answer of one webhook."""
    other = build.company("Bystander")
    poison = build.webhook(company, url=f"{receiver.url}/poison")
    innocent = [build.webhook(company, url=f"{receiver.url}/own", type_id=3)]
    for type in (1, 3):
        innocent.append(build.webhook(other, url=f"{receiver.url}/{type}", type_id=type))
    for owner, types in ((company, (1, 3)), (other, (1, 3))):
        for type in types:
            publishing.publish([build.news(owner, number, type=type) for number in range(EVENTS)])

    crashes = crash_until_idle(loopback, lambda request: request.url.endswith("/poison"))

    assert crashes <= claiming.MOST_CRASHES + 1
    others = Delivery.objects.exclude(webhook=poison)
    assert set(others.values_list("state", "crashes")) == {(State.DELIVERED, 0)}
    arrived = {(each.path, shipment_in(each.body)) for each in receiver.log}
    assert others.count() == len(innocent) * EVENTS == len(arrived)
    set_aside = Delivery.objects.filter(webhook=poison, state=State.GIVEN_UP)
    assert set_aside.count() == setting_aside.MOST_SET_ASIDE
    poison.refresh_from_db()
    assert (poison.active, poison.paused_reason) == (False, pausing.CRASHING)
    failed = FailedRow.objects.filter(job="deliver", kind="delivery")
    assert {each.key for each in failed} == {str(each.pk) for each in set_aside}
    (group,) = queue_picture.oldest_waiting("webhook", 9)
    assert group.condition == "paused, 2 set aside"
    counts = sums.read_sums()
    assert counts["deliveries_finished", ("set_aside",)] == 2
    assert counts["engine_loops_lost", ()] >= crashes - 1


def test_a_resumed_webhook_that_still_kills_is_paused_at_its_next_set_aside(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, number) for number in range(EVENTS)])
    crash_until_idle(loopback, lambda request: True)
    services.resume(webhook.pk)

    crash_until_idle(loopback, lambda request: True)

    webhook.refresh_from_db()
    assert not webhook.active
    assert Delivery.objects.filter(state=State.GIVEN_UP).count() == 3


def test_delivery_set_aside_has_a_page_and_a_line_of_doctor(
    company: Company, receiver: Receiver, loopback: Policy, admin_client: Client
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, POISON)])
    crash_until_idle(loopback)
    delivery = Delivery.objects.get()

    page = admin_client.get(reverse("admin:core_failedrow_changelist"))

    address = reverse("admin:deliveries_delivery_change", args=[delivery.pk])
    assert f'href="{address}"' in page.content.decode()
    assert "The sending process ended 4 times" in page.content.decode()
    assert admin_client.get(address).status_code == 200
    with pytest.raises(Concern, match="1 of deliver"):
        doctor_checks.failed_rows()


def test_a_suspect_waits_for_the_quarantine_and_its_webhook_with_it(company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(5)])
    for _ in range(claiming.SUSPECT_CRASHES):
        claim(room=3)
        lose_loops()

    claims = claiming.claim(loop_id(), {webhook.pk: 9})

    assert claims == ([], {webhook.pk}, {webhook.pk}, {})


def test_a_first_crash_holds_up_nobody(company: Company) -> None:
    """Block nobody (found by tools/bench/hour: a healthy webhook waited for hundreds that hang)."""
    webhook = build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(5)])
    claim(room=3)
    lose_loops()

    claims = claiming.claim(loop_id(), {webhook.pk: 9})

    assert [each.crashes for each in claims.claimed] == [1, 1, 1, 0, 0]
    assert not claims.suspected


def test_suspects_of_receivers_that_do_well_are_tried_first(company: Company) -> None:
    """Try them first; otherwise all of them wait for the time-out of one that hangs."""
    hangs, well = build.webhook(company, type_id=1), build.webhook(company, type_id=3)
    Health.objects.create(webhook=hangs, failures=1)
    for webhook in (hangs, well):
        publishing.publish([build.news(company, n, type=webhook.type_id) for n in range(2)])
    for _ in range(claiming.SUSPECT_CRASHES):
        claim()
        lose_loops()
    batches = [ClaimBatch({hangs.pk: 9, well.pk: 9}) for _ in range(3)]
    loop, loans = loop_id(), Loans()

    for batch in batches:
        loans.claim(batch, loop, frozenset())
        loans.give_back(batch.claimed)

    tried = [{each.webhook_id for each in batch.claimed} for batch in batches]
    assert tried == [{well.pk}, set(), {well.pk}]


def test_delivery_that_crashed_three_times_is_claimed_alone(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(5)])
    for crashes in range(claiming.ALONE_CRASHES):
        assert [each.crashes for each in claim()] == [crashes] * 5
        lose_loops()

    assert [each.crashes for each in claim()] == [claiming.ALONE_CRASHES]


def test_a_claim_that_runs_out_while_its_loop_lives_is_no_crash(company: Company) -> None:
    """Play a database that stood still for longer than the claim."""
    build.webhook(company)
    publishing.publish([build.news(company)])
    claim()
    Delivery.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))

    assert [each.crashes for each in claim()] == [0]


def test_one_loop_over_all_hosts_is_in_quarantine(company: Company) -> None:
    first, second = str(leases.join(2)), str(leases.join(2))

    assert quarantine.enter(first)
    assert quarantine.enter(first)
    assert not quarantine.enter(second)
    Loop.objects.filter(pk=first).update(lost=True)
    assert quarantine.enter(second)
    Suspects().leave(second)
    assert not Quarantine.objects.exists()


def test_the_loop_in_quarantine_lets_others_in_after_a_batch(company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(5)])
    for _ in range(claiming.SUSPECT_CRASHES):
        claim()
        lose_loops()
    loop, suspects = loop_id(), Suspects()

    first = suspects.claim(loop, {webhook.pk: 2})
    assert len(first) == 2
    assert suspects.claim(loop, {webhook.pk: 2}) == []
    suspects.end(loop, [each.id for each in first])

    assert not Quarantine.objects.exists()
    assert suspects.claim(loop, {webhook.pk: 2}) == []
    assert len(suspects.claim(loop, {webhook.pk: 2})) == 2


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
