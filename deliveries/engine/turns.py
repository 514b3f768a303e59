"""What an engine loop asks of the database, a turn at a time, beside the network.

The network goes on while the database works, and while it does not answer. A turn that fails is
taken again as it is: what it has done already is no longer part of it.
"""

import logging
import math
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from companies.log_bound import ATTEMPTS
from companies.measures import sums
from deliveries import statements
from deliveries.catching_up import Walks
from deliveries.engine import (
    attempt_log,
    claiming,
    lanes,
    leases,
    pausing,
    rendering,
    setting_aside,
    tallying,
)
from deliveries.engine.loans import Address
from deliveries.engine.portions import Portion
from deliveries.engine.turn import Turn

logger = logging.getLogger(__name__)

Pause = Callable[[float], None]
WAKEUPS_AT_ONCE = 128
# Webhooks to claim from, and results to record: at most, fewer where that takes long.
CLAIMS_AT_ONCE = 100
RESULTS_AT_ONCE = 400
# Whoever has not renewed its lease for so long has been away itself.
AWAY_SECONDS = 2.5 * leases.HEARTBEAT_SECONDS
PAUSE_SECONDS = 0.5
STOP_TRIES = 6
FIND_MISSED_EVERY_SECONDS = 5.0
FIND_MISSED_AT_ONCE = 500


class Database:
    """The loop's lease and its connection; between tries of a turn it calls `pause`.

    `loop_id` is None while the loop has no lease: then it sends nothing.
    """

    def __init__(self, stop: Callable[[], bool], pause: Pause = time.sleep) -> None:
        self.stop = stop
        self.pause = pause
        self.loop_id: str | None = None
        self.yields = self.draining = False
        self._held: frozenset[str] = frozenset()  # Hosts that an operator holds.
        self.tells = (0, "")  # What the heartbeat says: slots in use, and trouble with the proxy.
        # A delivery that we have, and that loops before us were lost with.
        self._suspect: str | None = None
        # What is claimed and neither recorded nor given back, and whether there may be more.
        self._on_loan: set[str] = set()
        self._unheard = False
        self.claims_at_once = Portion(CLAIMS_AT_ONCE)
        self.results_at_once = Portion(RESULTS_AT_ONCE)
        self._tuned = False
        self._walks = Walks()
        self._renewed_at = -math.inf
        # The database's time, and the moment of the monotonic clock at which it was told.
        self._told: tuple[datetime, float] | None = None
        self._missed_at = self._looked_around_at = -math.inf
        self._missed_after = 0

    def take(self, turn: Turn) -> Turn:
        """Take a turn, however often it takes until the database answers.

        A loop that is to stop tries STOP_TRIES times more, and then raises OperationalError: what
        it was working on is taken over when its lease has run out.
        """
        tries = STOP_TRIES
        while True:
            try:
                self._take(turn)
                return turn
            except (OperationalError, InterfaceError) as error:
                tries -= self.stop()
                if not tries:
                    raise
                logger.warning("cannot reach the database, trying again: %s", error)
                connection.close()
                self._tuned, self._unheard = False, True
                self.pause(PAUSE_SECONDS)

    def has_lease(self, loop_id: str | None) -> bool:
        """Whether what was claimed under this id is certainly still ours."""
        ours = time.monotonic() - self._renewed_at < leases.LEASE_SECONDS
        return ours and self.loop_id == loop_id

    def now(self) -> datetime:
        """The time by the database's clock: receivers refuse what a wrong one has signed."""
        if self._told is None:
            return timezone.now()
        at, then = self._told
        return at + timedelta(seconds=time.monotonic() - then)

    def close(self) -> None:
        """End the lease; what is not released by then is taken over by others."""
        try:
            sums.write_sums()
            if self.loop_id:
                leases.leave(self.loop_id)
        except (OperationalError, InterfaceError) as error:
            logger.warning("cannot reach the database, the lease will run out: %s", error)

    def _take(self, turn: Turn) -> None:
        if not self._tuned:
            statements.settle_plans()
            self._tuned = True
        wakeups = self._keep_lease()
        ATTEMPTS.say_left_out()
        self._write(turn)
        sums.write_if_due()
        if self.loop_id is None:
            return
        if self._unheard:
            lanes.begin_anew(self.loop_id, self._on_loan)
            self._unheard, wakeups = False, True
        if turn.hear and wakeups and not self.draining:
            turn.woken, turn.plenty = lanes.take(self.loop_id, WAKEUPS_AT_ONCE)
            turn.claims |= turn.hear(turn.woken)
        if turn.listening:
            self._find_missed()
            self._look_around(turn, self.loop_id, time.monotonic())
        if turn.claims:
            began = time.monotonic()
            turn.addresses = self._find_addresses(list(turn.claims))
            behind = self._catch_up(turn.addresses)
            rooms = {
                webhook_id: 1 if turn.addresses[webhook_id].probe else room
                for webhook_id, room in turn.claims.items()
                if webhook_id in turn.addresses
            }
            if rooms:
                self._claim(self.loop_id, turn, rooms)
            turn.more |= behind
            self.claims_at_once.took(len(turn.claims), time.monotonic() - began)

    def _claim(self, loop_id: str, turn: Turn, rooms: dict[int, int]) -> None:
        turn.claimed, turn.more = claiming.claim(loop_id, rooms, suspect=not self._suspect)
        if any(each.crashes >= claiming.SUSPECT_CRASHES for each in turn.claimed):
            turn.claimed, self._suspect = setting_aside.set_crashed_aside(turn.claimed)
        self._on_loan.update(each.id for each in turn.claimed)

    def _write(self, turn: Turn) -> None:
        if self._suspect:
            ended = {each.delivery_id for each in turn.results} | {each.id for each in turn.back}
            self._suspect = None if self._suspect in ended else self._suspect
        if turn.results:
            began = time.monotonic()
            late = len(turn.results) - setting_aside.record_all(turn.results, turn.failing)
            if late:
                logger.warning("%d results arrived after their claim had ended", late)
            self.results_at_once.took(len(turn.results), time.monotonic() - began)
            turn.recorded += len(turn.results)
            self._on_loan.difference_update(each.delivery_id for each in turn.results)
            tallying.tally_attempts(turn.results)
            attempt_log.tell_of_attempts(turn.results)
            turn.results = []
        for webhook_id in tuple(turn.gone):
            pausing.pause_gone(webhook_id)
            turn.gone.discard(webhook_id)
        if turn.back:
            claiming.give_back(turn.back)
            self._on_loan.difference_update(each.id for each in turn.back)
            turn.back = []
        if turn.released and self.loop_id:
            lanes.release(self.loop_id, turn.released, turn.unfinished)
            turn.released = []
        if turn.given and self.loop_id:
            lanes.give(self.loop_id, turn.given)
            turn.given = []

    def _find_addresses(self, webhook_ids: list[int]) -> dict[int, Address]:
        """Those that may be sent to; what we cannot write ourselves waits, and is not claimed.

        So does what is for a host that is held.
        """
        found = rendering.addresses(webhook_ids)
        if held := [id for id, each in found.items() if rendering.is_held(each, self._held)]:
            setting_aside.have_wait(held)
            found = {id: each for id, each in found.items() if id not in held}
        unreadable = {id: each.trouble for id, each in found.items() if each.trouble}
        if unreadable:
            setting_aside.hold_back(unreadable)
        return {id: each for id, each in found.items() if id not in unreadable}

    def _catch_up(self, addresses: dict[int, Address]) -> set[int]:
        """Pull retries forward where that is wanted; returns the webhooks with more of them."""
        wanted = {
            webhook_id: address.catch_up_before
            for webhook_id, address in addresses.items()
            if address.catch_up_before
        }
        return self._walks.go_on(wanted) if wanted else set()

    def _keep_lease(self) -> bool:
        """Renew the lease, or wait for a place; returns whether wake-ups may be due."""
        now = time.monotonic()
        since = now - self._renewed_at
        if self.loop_id and since < leases.HEARTBEAT_SECONDS:
            return True
        renewed = self._renew()
        if self.loop_id and not renewed:
            logger.warning("the other loops have given this one up; it starts again")
            self.loop_id = self._suspect = None
            self._on_loan.clear()
        silent = renewed is None or renewed.silent_loops
        if silent and since < AWAY_SECONDS and (lost := leases.take_over()):
            logger.warning("%d loops are lost; their deliveries are taken over", len(lost))
        if not self.loop_id and not self.stop():
            self.loop_id = leases.join(settings.DELIVERY_LOOPS)
            self._renew()
        self._renewed_at = now
        return renewed is None or renewed.wakeups

    def _renew(self) -> leases.Renewed | None:
        renewed = leases.renew(self.loop_id, *self.tells) if self.loop_id else None
        if renewed:
            self._told, self.yields = (renewed.at, time.monotonic()), renewed.yields
            self.draining, self._held = renewed.draining, frozenset(renewed.held)
        return renewed

    def _look_around(self, turn: Turn, loop_id: str, now: float) -> None:
        if turn.lanes > lanes.UNEVEN and now - self._looked_around_at >= leases.HEARTBEAT_SECONDS:
            self._looked_around_at = now
            turn.surplus = lanes.surplus(loop_id)

    def _find_missed(self) -> None:
        now = time.monotonic()
        if now - self._missed_at < FIND_MISSED_EVERY_SECONDS:
            return
        self._missed_at = now
        self._missed_after, missed = lanes.find_missed(self._missed_after, FIND_MISSED_AT_ONCE)
        if missed:
            logger.warning("%d webhooks had deliveries due and no wake-up", missed)
