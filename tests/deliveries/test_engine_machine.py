"""Random receivers and failures, compared with a model of the engine's promises.

Two loops run at the level of their statements; the network is simulated. Time advances by moving
all stored times back. ENGINE_MACHINE=thorough in the environment plays much more.
"""

import json
import os
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from deliveries import redelivery
from deliveries.engine import claiming, judging, lanes, leases, pausing, rendering, setting_aside
from deliveries.engine.judging import AttemptContext
from deliveries.engine.loans import Claimed
from deliveries.engine.pace import Pace
from deliveries.engine.recording import AttemptResult
from deliveries.engine.signing import sign, timestamp_ms
from deliveries.engine.slots import Flight, Host, Lane
from deliveries.http.answers import Failure, Reply
from deliveries.models import Delivery, Heartbeat, Loop, TakenLane, Wakeup
from deliveries.upkeep import deleted_webhooks
from tests.deliveries.engine_model import CANCELLED, DAY, SLACK, Promises, Receiver, Sending
from tests.deliveries.worlds import World
from webhooks import services
from webhooks.models import Webhook

SIZES = {"quick": (15, 40), "thorough": (300, 80)}
MOVE_ON = """
UPDATE deliveries_delivery SET due_at = due_at - %(by)s, claimed_until = claimed_until - %(by)s,
  first_attempt_at = first_attempt_at - %(by)s WHERE archived_on = '9999-12-31';
UPDATE deliveries_wakeup SET due_at = due_at - %(by)s;
UPDATE deliveries_health SET resting_until = resting_until - %(by)s;
UPDATE webhooks_webhook SET next_secret_at = next_secret_at - %(by)s;
"""
EITHER, ANY, MANY = st.integers(0, 1), st.integers(0, 3), st.integers(0, 1000)
# Status, failure, seconds of Retry-After. Successes come up most often.
ANSWERS = st.sampled_from(
    [
        *[(200, None, None)] * 3,
        *[(None, Failure.TIMEOUT, None)] * 2,
        (500, None, None),
        (429, None, 60),
        (503, None, 90_000),
        (410, None, None),
    ]
)


class Machine(RuleBasedStateMachine):
    """Set `world` before it runs."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.ahead = 0.0
        self.promises = Promises({each.pk: Receiver(each.secret) for each in self.world.webhooks})
        self.flights: list[Claimed] = []
        self.loops = [str(leases.join(2)), str(leases.join(2))]
        # Webhooks of each loop with due deliveries.
        self.due: list[set[int]] = [set(), set()]
        # Webhooks with claims that no loop knows of: the walk over waiting deliveries finds them.
        self.forgotten: set[int] = set()
        self.place = 0

    @property
    def now(self) -> float:
        return time.time() + self.ahead

    @rule(shipment=EITHER, steps=st.integers(1, 3))
    def publish(self, shipment: int, steps: int) -> None:
        now = self.now
        self.world.publish(shipment, steps=range(self.place, self.place + steps))
        self.place += steps
        new = Delivery.objects.exclude(pk__in=self.promises.sendings)
        published = set()
        for id, webhook, body in new.values_list("pk", "webhook_id", "event__body"):
            fields = json.loads(bytes(body))
            self.promises.sendings[str(id)] = Sending(webhook, shipment, fields["step"], now)
            published.add((webhook, fields["company"], fields["type"], fields["step"]))
        assert published == {
            (each.pk, each.company_id, each.type_id, step)
            for each in self.world.webhooks
            for step in range(self.place - steps, self.place)
            if not self.promises.receivers[each.pk].deleted
        }

    @rule(which=EITHER, room=st.integers(1, 4), answer_is_lost=st.integers(0, 9))
    def claim(self, which: int, room: int, answer_is_lost: int = 1) -> None:
        """Run a turn of a loop: heartbeat, wake-ups, claims. Its answer may be lost on the way."""
        if not leases.renew(self.loops[which]):
            self.loops[which], self.due[which] = str(leases.join(2)), set()
        loop, due = self.loops[which], self.due[which]
        woken, *_ = lanes.take(loop, 100)
        due |= {each.webhook_id for each in woken}
        ready = rendering.addresses(sorted(due))
        rooms = {id: 1 if ready[id].probe else room for id in ready}
        claims = claiming.claim(loop, rooms, suspects=room)
        now = self.now
        for each in claims.claimed:
            sending = self.promises.sendings[each.id]
            assert self.promises.why_not(sending, now) == ""
            assert (each.webhook_id, each.attempts, each.step, each.claim) == (
                sending.webhook,
                sending.attempts,
                sending.step,
                loop,
            )
            self.check_request(each, ready[each.webhook_id])
        for each in claims.claimed:
            self.promises.sendings[each.id].claim(loop, now)
        if answer_is_lost:
            self.flights += claims.claimed
        else:
            self.forgotten |= {each.webhook_id for each in claims.claimed}
        self.due[which] = claims.more
        busy = {each.webhook_id for each in self.flights if each.claim == loop}
        mine = TakenLane.objects.filter(loop_id=loop).values_list("pk", flat=True)
        lanes.release(loop, [id for id in mine if id not in claims.more | busy])

    def check_request(self, claimed: Claimed, address: Any) -> None:
        webhook = Webhook.objects.get(pk=claimed.webhook_id)
        at = timezone.now()
        request = rendering.render(claimed, address, at)
        secret = self.promises.receivers[webhook.pk].signing(self.now)
        signature = sign(secret, timestamp_ms(at), webhook.type_name, claimed.body)
        assert request.url == webhook.url
        assert ("X-Webhook-Id", claimed.id) in request.headers
        assert ("X-Webhook-Signature", signature) in request.headers

    @rule(which=EITHER, answers=st.lists(ANSWERS, min_size=1, max_size=4))
    def claim_and_answer(self, which: int, answers: list[Any]) -> None:
        """Claim for a loop, and answer the latest requests."""
        self.claim(which, 3)
        for each in answers:
            self.answer(-1, each)

    @rule(flight=MANY, answer=ANSWERS, database_away=st.integers(0, 5))
    def answer(
        self, flight: int, answer: tuple[int | None, Any, int | None], database_away: int = 1
    ) -> None:
        """Record an answer; a second time if the database goes away meanwhile."""
        if not self.flights:
            return
        claimed = self.flights.pop(flight % len(self.flights))
        status, error, retry_after = answer
        result = judging.judge(
            context_of(claimed), Reply(None, *answer[:2], "", b"", 1, retry_after), 0.0
        )
        if not database_away:
            with pytest.raises(OperationalError):
                record_in_vain(result)
        was_recorded = setting_aside.record_all([result], {claimed.webhook_id})
        sending, now = self.promises.sendings[claimed.id], self.now
        assert was_recorded == (sending.owner == claimed.claim)
        if was_recorded:
            sending.record(now, ok=status == 200, retry_after=retry_after or 0)
        receiver = self.promises.receivers[claimed.webhook_id]
        receiver.note(now, ok=status == 200, silent=error is not None, retry_after=retry_after or 0)
        if status == 410:
            pausing.pause_gone(claimed.webhook_id)
            receiver.active = False

    @rule(which=EITHER)
    def stall(self, which: int) -> None:
        """Stall a loop until its lease runs out and the other takes over."""
        away = Heartbeat.objects.filter(pk=self.loops[which])
        if away.update(lease_until=timezone.now() - timedelta(seconds=1)):
            loop = self.loops[which]
            assert leases.take_over() == [loop]
            self.promises.lost.add(loop)
            everything = {each.pk: 9 for each in self.world.webhooks}
            assert claiming.claim(loop, everything).claimed == []
            assert not leases.renew(loop)

    @rule(which=EITHER)
    def stop(self, which: int) -> None:
        """Stop a loop in order: unsent deliveries are released."""
        loop = self.loops[which]
        back = [each for each in self.flights if each.claim == loop]
        self.flights = [each for each in self.flights if each.claim != loop]
        claiming.give_back(back)
        for each in back:
            sending = self.promises.sendings[each.id]
            if sending.owner == loop:
                sending.owner = None
        if not leases.renew(loop):
            return
        mine = list(TakenLane.objects.filter(loop_id=loop).values_list("pk", flat=True))
        lanes.release(loop, mine, unfinished=mine)
        leases.leave(loop)
        self.due[which] = set()

    @rule(which=MANY)
    def redeliver(self, which: int) -> None:
        ids = sorted(self.promises.sendings)
        if not ids:
            return
        id = ids[which % len(ids)]
        sending = self.promises.sendings[id]
        if not self.promises.receivers[sending.webhook].deleted:
            assert redelivery.redeliver([id]) == sending.redeliver(self.now)

    @rule(which=ANY, later=st.booleans())
    def rotate(self, which: int, later: bool) -> None:
        webhook = self.world.webhooks[which]
        receiver = self.promises.receivers[webhook.pk]
        if not receiver.deleted:
            wait = timedelta(hours=later)
            rotated = services.rotate_secret(webhook.company, webhook.pk, activates_in=wait)
            receiver.secret = receiver.signing(self.now)
            receiver.next_secret = rotated.next_secret or ""
            receiver.next_at = self.now + wait.total_seconds() - SLACK

    @rule(which=ANY)
    def pause(self, which: int) -> None:
        services.pause(self.world.webhooks[which].pk, "for a test")
        self.promises.receivers[self.world.webhooks[which].pk].active = False

    @rule(which=ANY)
    def resume(self, which: int) -> None:
        services.resume(self.world.webhooks[which].pk)
        self.promises.receivers[self.world.webhooks[which].pk].active = True

    @rule()
    def delete(self) -> None:
        """Delete the same one always, so that the others live long."""
        webhook = self.world.webhooks[3]
        receiver = self.promises.receivers[webhook.pk]
        if not receiver.deleted:
            services.delete_webhook(webhook.company, webhook.pk)
            receiver.deleted = True
            deleted_webhooks.cancel_deliveries()
            for each in self.promises.waiting():
                if each.webhook == webhook.pk:
                    each.state, each.owner = CANCELLED, None

    @rule(seconds=st.sampled_from([1, 5, 31, 301, 3601, 18_001, 86_401]))
    def move_on(self, seconds: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(MOVE_ON, {"by": timedelta(seconds=seconds)})
        self.ahead += seconds

    @invariant()
    def rows_are_as_promised(self) -> None:
        rows = Delivery.objects.values_list("pk", "state", "attempts", "step", "claimed_by")
        assert {str(id): (*row, owner and str(owner)) for id, *row, owner in rows} == {
            id: each.row for id, each in self.promises.sendings.items()
        }

    @invariant()
    def each_loop_has_a_heartbeat_until_it_is_lost(self) -> None:
        alive = Loop.objects.filter(lost=False).values_list("pk", flat=True)
        assert set(Heartbeat.objects.values_list("pk", flat=True)) == set(alive)

    def teardown(self) -> None:
        """Check that everything arrives by its wake-ups, once receivers and database are well."""
        try:
            self.everything_arrives()
        finally:
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    def everything_arrives(self) -> None:
        self.stop(1)
        for which in range(4):
            self.resume(which)
        self.move_on(31)
        # Wake up only these: the walk would hide other webhooks without a wake-up.
        Wakeup.objects.bulk_create(
            Wakeup(webhook_id=id, due_at=timezone.now()) for id in self.forgotten
        )
        for _ in range(len(self.promises.sendings) + 5):
            self.move_on(int(DAY) + 1)
            self.claim(0, 100)
            while self.flights:
                self.answer(0, (200, None, None))
        assert list(self.promises.waiting()) == []


def record_in_vain(result: AttemptResult) -> None:
    with transaction.atomic():
        setting_aside.record_all([result], {result.webhook_id})
        raise OperationalError("for a test")


def context_of(claimed: Claimed) -> AttemptContext:
    flight = Flight(Lane(claimed.webhook_id, 0, Pace(0.0), 0.0), Host(), 0.0, True, True)
    return AttemptContext(claimed, "https://hooks.example.com/in", timezone.now(), flight)


@pytest.mark.slow
def test_keeps_its_promises_whatever_happens(world: World) -> None:
    Machine.world = world
    how = os.environ.get("ENGINE_MACHINE", "quick")
    examples, steps = SIZES[how]
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            # Shrinking an example takes minutes.
            phases=[Phase.generate] if how == "quick" else list(Phase),
        ),
    )
