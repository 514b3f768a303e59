"""The engine in the default world: two companies with two webhooks each, and mixed batches.

After each test the world's check fails if anybody saw another's event.
"""

import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from deliveries import redelivery
from deliveries.engine import leases, loop
from deliveries.engine.slots import SLOTS
from deliveries.http.transport import Transport
from deliveries.models import Delivery, Event, Health, Loop, State, TakenLane
from tests.deliveries import worlds
from tests.deliveries.worlds import World
from tests.sending import claim, deliver, engine, loop_id, make_due
from tools.faults.receiver import Answer, Received
from webhooks import services
from webhooks.models import Webhook
from webhooks.targets import Policy

REMOVED, WELL = Answer(410), Answer(200)


def answering(world: World, webhook: Webhook, answer: Answer) -> None:
    """Make this webhook's receiver answer so; the others accept everything."""

    def judge(received: Received) -> Answer:
        return answer if received.path == worlds.path(webhook) else WELL

    world.receiver.answer = judge


def states(world: World) -> list[set[int]]:
    return [set(world.deliveries(each).values_list("state", flat=True)) for each in world.webhooks]


def test_each_webhook_gets_all_of_its_events(world: World, loopback: Policy) -> None:
    world.publish(*range(5), steps=range(3))

    assert deliver(loopback) == 4 * 5 * 3

    for webhook in world.webhooks:
        assert worlds.steps(world.log(webhook)) == {n: [0, 1, 2] for n in range(5)}
    assert not TakenLane.objects.exists()
    assert not Loop.objects.exists()


def test_nothing_is_dropped_of_thousands(world: World) -> None:
    """Test without the network: it is about rows."""
    world.publish(*range(300))

    assert Event.objects.count() == Delivery.objects.count() == 4 * 300


@pytest.mark.parametrize("status", [410, 429, 500, 503])
def test_refusing_receiver_harms_no_other(world: World, loopback: Policy, status: int) -> None:
    bad = world.webhooks[1]
    answering(world, bad, Answer(status, headers=(("Retry-After", "60"),)))
    world.publish(*range(8))

    deliver(loopback)

    assert states(world) == [{State.DELIVERED}, {State.WAITING}] + 2 * [{State.DELIVERED}]
    assert [each.pk for each in Webhook.objects.filter(active=False)] == (
        [bad.pk] if status == 410 else []
    )
    assert set(Health.objects.values_list("webhook_id", flat=True)) == {bad.pk}


@pytest.mark.parametrize("status", [429, 503])
def test_busy_receiver_gets_its_rest(
    world: World, loopback: Policy, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rest at once, not only when the answer has been recorded."""
    monkeypatch.setattr(loop, "RECORD_AFTER_SECONDS", 1.0)
    busy = world.webhooks[2]
    answering(world, busy, Answer(status, headers=(("Retry-After", "250"),)))
    world.publish(*range(20))

    deliver(loopback)

    # Requests that were in flight when the first answer came, and no more.
    assert len(world.log(busy)) <= 2
    rest = Health.objects.get(webhook=busy).resting_until - timezone.now()
    assert timedelta(seconds=240) < rest <= timedelta(seconds=250)
    retried = world.deliveries(busy).filter(attempts=1)
    assert min(each.due_at for each in retried) > timezone.now() + timedelta(seconds=240)


def test_receiver_that_answers_gone_gets_no_more(world: World, loopback: Policy) -> None:
    removed = world.webhooks[0]
    answering(world, removed, REMOVED)
    world.publish(*range(20))

    deliver(loopback)

    assert len(world.log(removed)) <= 2
    removed.refresh_from_db()
    assert (removed.active, removed.paused_reason) == (False, "The receiver answered 410 Gone.")
    assert world.deliveries(removed).filter(state=State.WAITING).count() == 20


def test_recovers_one_webhook_and_no_other(world: World, loopback: Policy) -> None:
    world.receiver.answer = lambda _: Answer(500)
    world.publish(*range(3))
    Delivery.objects.update(step=9)
    deliver(loopback)
    assert states(world) == 4 * [{State.GIVEN_UP}]
    world.receiver.answer = lambda _: WELL
    mine = world.webhooks[0]

    call_command("redeliver", webhook=mine.pk)
    deliver(loopback)

    assert states(world) == [{State.DELIVERED}] + 3 * [{State.GIVEN_UP}]


def test_delivery_in_flight_is_not_sent_again(world: World) -> None:
    world.publish(1)
    before = {each.id: each.claim for each in claim()}
    waiting = world.deliveries(world.webhooks[0]).get()

    assert redelivery.redeliver([waiting.pk]) == 0

    assert claim() == []
    owners = {str(id): str(by) for id, by in Delivery.objects.values_list("pk", "claimed_by")}
    assert owners == before


def test_a_rotated_secret_signs_from_its_time_on(world: World, loopback: Policy) -> None:
    """Check which secret is due: the world's check accepts either."""
    soon, now = world.webhooks[:2]
    services.rotate_secret(world.acme, soon.pk, activates_in=timedelta(hours=1))
    services.rotate_secret(world.acme, now.pk, activates_in=timedelta())
    world.publish(1)

    deliver(loopback)

    for webhook in (soon, now):
        webhook.refresh_from_db()
        (received,) = world.log(webhook)
        expected = webhook.secret if webhook == soon else webhook.next_secret
        assert received.headers["X-Webhook-Signature"] == worlds.signature(
            expected, webhook, received
        )


def test_repeats_keep_their_id_and_bytes(world: World, loopback: Policy) -> None:
    world.receiver.answer = lambda _: Answer(500)
    world.publish(1)

    for _ in range(3):
        deliver(loopback)
        make_due()

    for webhook in world.webhooks:
        delivery = world.deliveries(webhook).get()
        log = world.log(webhook)
        assert len(log) == delivery.attempts == delivery.step == 3
        assert {each.headers["X-Webhook-Id"] for each in log} == {str(delivery.pk)}
        assert len({each.body for each in log}) == 1


def test_a_paused_company_goes_on_in_order_once_resumed(world: World, loopback: Policy) -> None:
    paused = world.webhooks[3]
    services.pause(paused.pk, "for a test")
    world.publish(*range(4), steps=range(2))
    deliver(loopback)
    assert world.log(paused) == []

    services.resume(paused.pk)
    deliver(loopback)

    assert worlds.steps(world.log(paused)) == {n: [0, 1] for n in range(4)}


def test_claims_of_a_stopped_loop_are_released_at_once(world: World, loopback: Policy) -> None:
    """Stop the loop as soon as it has claimed ahead, which it does once answers come."""
    world.publish(*range(100))
    holding = 0

    def stop() -> bool:
        nonlocal holding
        holding = holding or first.slots.holding
        return bool(holding)

    with closing(Transport(loopback, concurrency=SLOTS)) as transport:
        first = engine(transport, stop=stop)
        first.run()

    assert first.attempts == len(world.receiver.log)
    assert not Delivery.objects.open().exclude(claimed_by=None).exists()
    assert first.attempts + deliver(loopback) == 400


def stop_beside_who_hangs(world: World, loopback: Policy, look: Callable[[], object]) -> None:
    """Stop a loop that waits only for the first webhook's receiver; call `look` repeatedly."""
    stopping = False

    def judge(received: Received) -> Answer:
        if received.path == worlds.path(world.webhooks[0]):
            time.sleep(0.6)
        return WELL

    def stop() -> bool:
        nonlocal stopping
        stopping = stopping or (first.attempts == 3 and first.slots.in_flight == 1)
        if stopping:
            look()
        return stopping

    world.receiver.answer = judge
    world.publish(1)
    with closing(Transport(loopback, concurrency=SLOTS)) as transport:
        first = engine(transport, stop=stop)
        assert first.run() == 4


def test_stopping_loop_releases_webhooks_that_do_not_hang(world: World, loopback: Policy) -> None:
    """Release them; otherwise all webhooks wait for the slowest receiver during a deploy."""
    lanes_by_time: list[set[int]] = []

    def look() -> None:
        lanes_by_time.append(set(TakenLane.objects.values_list("webhook_id", flat=True)))

    stop_beside_who_hangs(world, loopback, look)

    assert lanes_by_time[0] == {each.pk for each in world.webhooks}
    assert lanes_by_time[len(lanes_by_time) // 2] == {world.webhooks[0].pk}
    assert not Loop.objects.exists()


def test_a_loop_that_stops_keeps_its_lease_and_holds_no_place(
    world: World, loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a new loop join without waiting, and keep it from taking the lease for lost."""
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.3)
    places: list[str | None] = []
    lost: set[str] = set()

    def look() -> None:
        places.append(leases.join(1))
        lost.update(leases.take_over())

    stop_beside_who_hangs(world, loopback, look)

    assert places[0] is None
    assert any(places)
    assert lost <= set(places)


def test_claims_of_a_lost_loop_go_to_another(world: World) -> None:
    world.publish(1, 2)
    late = claim()
    Loop.objects.update(lost=True)

    present = claim()

    assert {each.id for each in present} == {each.id for each in late}
    assert {each.claim for each in present} == {loop_id()}
