"""The engine room: claim, sign, send and record until nothing is due.

One loop, one thread, one database connection. No statement here spans the network: a transfer
never holds a lock. What a killed loop had claimed comes back by itself when its lease ends; what
it had sent but not recorded is sent again, under the same X-Webhook-Id.
"""

import logging
import random
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import cast

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from deliveries import statements
from deliveries.engine import claiming, pausing, recording, rendering
from deliveries.engine.loans import Claimed
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rendering import Address, Sent
from deliveries.engine.rooms import Rooms
from deliveries.engine.schedule import next_wait
from deliveries.http.answers import Failure, Reply
from deliveries.http.transport import Transport
from deliveries.models import State

logger = logging.getLogger(__name__)

CONCURRENCY = 256
# Beyond this many claimed and not yet sent, no more are claimed.
ENOUGH_HELD = 160
LANES_AT_ONCE = 256
RECORD_AT_ONCE = 200
RECORD_AFTER_SECONDS = 0.02
# Every answer wakes the loop; it asks the database for more at this pace, and at once only after
# a find that says that more is waiting.
LOOK_EVERY_SECONDS = 0.01
PLENTY = 32
# After its last find a loop goes on looking for so long; the doorbell relies on it.
LINGER_SECONDS = 2.0
# Then it makes room for another, so that nothing in it grows for ever.
LONGEST_RUN_SECONDS = 900
DATABASE_PAUSE_SECONDS = 0.5
# Once for all results: looking up a member of an enum takes longer than the comparison.
DELIVERED, GONE = State.DELIVERED, HTTPStatus.GONE
# None is an answer, whatever its status. The others end before anybody was asked.
NOT_THE_RECEIVERS_FAULT = (None, Failure.INTERNAL, Failure.BAD_TARGET)


class Engine:
    """`stop` is asked at every turn; once it says yes nothing more is claimed or started."""

    def __init__(self, transport: Transport, stop: Callable[[], bool]) -> None:
        self.transport = transport
        self.stop = stop
        self.rooms = Rooms()
        self.unwell: set[int] = set()
        self.addresses: dict[int, rendering.Address] = {}
        self.results: list[AttemptResult] = []
        self.back: list[Claimed] = []
        self.recorded_at = self.look_at = time.monotonic()
        self.cursor = 0
        self.tuned = False

    def run(self) -> int:
        """Work until nothing has been due for LINGER_SECONDS, told to stop, or for long enough.

        Returns how many attempts were recorded.
        """
        attempts = 0
        started = idle_since = time.monotonic()
        while True:
            stopping = self.stop() or time.monotonic() - started > LONGEST_RUN_SECONDS
            found: int | None = 0
            try:
                if not self.tuned:
                    statements.settle_plans()
                    self.tuned = True
                if stopping:
                    self.back += self.rooms.drop_all()
                else:
                    found = self.claim_due()
                attempts += self.record_due()
                self.give_back()
            except (OperationalError, InterfaceError) as error:
                logger.warning("cannot reach the database, trying again: %s", error)
                self.wait_for_database()
            self.start_held()
            self.take(self.transport.wait(LOOK_EVERY_SECONDS))
            if found or self.transport.in_flight or self.results or self.rooms.holding:
                idle_since = time.monotonic()
            elif stopping or (found is not None and time.monotonic() - idle_since > LINGER_SECONDS):
                return attempts

    def claim_due(self) -> int | None:
        """Claim what there is room for, to be sent in turn; returns how many.

        None when it is too early to look again.
        """
        now = time.monotonic()
        if now < self.look_at:
            return None
        if self.rooms.holding >= ENOUGH_HELD:
            return 0
        self.look_at = now + LOOK_EVERY_SECONDS
        lanes, self.cursor = claiming.lanes(self.cursor, LANES_AT_ONCE)
        self.unwell.update(lane.webhook_id for lane in lanes if lane.failing)
        room = {lane.webhook_id: self.rooms.allowance(lane) for lane in lanes}
        # An answer that says "leave me alone" holds from when it came, not from when it is written.
        for result in self.results:
            if result.rest or result.status == GONE:
                room.pop(result.webhook_id, None)
        room = {webhook_id: allowed for webhook_id, allowed in room.items() if allowed > 0}
        if not room:
            return 0
        share = max(1, 2 * ENOUGH_HELD // len(room))
        claimed = claiming.claim({id: min(share, allowed) for id, allowed in room.items()})
        if claimed:
            self.addresses |= rendering.addresses(list({each.webhook_id for each in claimed}))
        for delivery in claimed:
            self.rooms.hold(delivery)
        if len(claimed) >= PLENTY:
            self.look_at = now
        return len(claimed)

    def start_held(self) -> None:
        """Start what is held, in turn, as long as there is room."""
        stale = time.monotonic() - claiming.lease_seconds() / 2
        now = timezone.now()
        while self.transport.in_flight < CONCURRENCY and (delivery := self.rooms.take()):
            if delivery.claimed_at < stale:
                # What is left of its lease may not outlast the attempt.
                self.back += [delivery, *self.rooms.failed(delivery.webhook_id)]
                continue
            address = self.addresses[delivery.webhook_id]
            try:
                request = rendering.render(delivery, address, now)
            except rendering.CannotRender as error:
                self.take([cannot_send(delivery, address, str(error), now)])
            else:
                self.transport.start(request)

    def take(self, replies: Iterable[Reply]) -> None:
        for reply in replies:
            sent = cast(Sent, reply.key)
            if reply.ok:
                self.rooms.succeeded(sent.delivery.webhook_id)
            else:
                self.back += self.rooms.failed(sent.delivery.webhook_id)
            self.results.append(judge(sent, reply, random.random()))  # noqa: S311 - jitter

    def record_due(self) -> int:
        """Write down what is finished, once it is enough or has waited long enough."""
        now = time.monotonic()
        waited = now - self.recorded_at > RECORD_AFTER_SECONDS
        if not self.results or (len(self.results) < RECORD_AT_ONCE and not waited):
            return 0
        kept = recording.record_attempts(self.results, self.unwell)
        if kept < len(self.results):
            logger.warning(
                "%d results arrived after their lease had ended", len(self.results) - kept
            )
        gone = {result.webhook_id for result in self.results if result.status == GONE}
        recorded, self.results, self.recorded_at = len(self.results), [], now
        self.unwell.clear()
        for webhook_id in gone:
            pausing.pause_gone(webhook_id)
        return recorded

    def give_back(self) -> None:
        if self.back:
            claiming.give_back(self.back)
            self.back.clear()

    def wait_for_database(self) -> None:
        connection.close()
        self.tuned = False
        # Results older than their lease would be refused by the fence.
        deadline = timezone.now().timestamp() - claiming.lease_seconds()
        self.results = [
            result for result in self.results if result.started_at.timestamp() > deadline
        ]
        time.sleep(DATABASE_PAUSE_SECONDS)


def cannot_send(delivery: Claimed, address: Address, trouble: str, now: datetime) -> Reply:
    """The reply to a delivery that cannot even be written: our own fault."""
    return Reply(
        key=Sent(delivery, address.url, now),
        status=None,
        error=Failure.INTERNAL,
        detail=trouble,
        answer=b"",
        duration_ms=0,
        retry_after=None,
    )


def judge(sent: Sent, reply: Reply, dice: float) -> AttemptResult:
    """What a reply makes of its delivery (decision W19)."""
    delivery = sent.delivery
    state, wait, asked = DELIVERED, 0.0, None
    if not reply.ok:
        asked = reply.retry_after if reply.status in (429, 503) else None
        until = next_wait(delivery.step + 1, settings.DELIVERY_RETRY_SECONDS, dice, asked)
        state = State.GIVEN_UP if until is None else State.WAITING
        wait = until or 0.0
    return AttemptResult(
        delivery_id=delivery.id,
        claim=delivery.claim,
        webhook_id=delivery.webhook_id,
        state=state,
        wait=wait,
        url=sent.url,
        started_at=sent.at,
        duration_ms=reply.duration_ms,
        status=reply.status,
        error=str(reply.error or ""),
        detail=reply.detail,
        answer=reply.answer,
        unreachable=reply.error not in NOT_THE_RECEIVERS_FAULT,
        rest=float(min(asked or 0, recording.LONGEST_REST_SECONDS)),
    )
