"""Turns of an engine loop at the database, concurrent with its network traffic.

Requests continue while the database works, and while it does not answer. A turn that fails is
repeated: its completed parts have been removed from it.
"""

import logging
import math
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from core.measures import sums
from core.watch.log_bound import ATTEMPTS
from deliveries import statements
from deliveries.engine import (
    attempt_log,
    claiming,
    clock,
    lanes,
    leases,
    pausing,
    setting_aside,
    sharing,
    tallying,
)
from deliveries.engine.fronts import BEGINNING, LONG_SECONDS, Front, wait_after
from deliveries.engine.lending import NOTES, Loans
from deliveries.engine.loans import Address
from deliveries.engine.portions import Portion
from deliveries.engine.standing_by import LEAVE_SECONDS
from deliveries.engine.turn import ClaimBatch, Turn
from webhooks.targets import host_in

logger = logging.getLogger(__name__)

Pause = Callable[[float], None]
WAKEUPS_AT_ONCE = 128
# Maximum number of webhooks to claim from, and of results to record; fewer where that takes long.
CLAIMS_AT_ONCE = 100
RESULTS_AT_ONCE = 400
# A loop that has not renewed its lease for this long has stalled itself: it declares none lost.
AWAY_SECONDS = 2.5 * leases.HEARTBEAT_SECONDS
PAUSE_SECONDS = 0.5
STOP_TRIES = 6
FREE_ORPHANED_EVERY_SECONDS = 5.0
FIND_MISSED_EVERY_SECONDS = 5.0  # Longer, once a search takes LONG_SECONDS.
# Seconds until the next question which wake-ups may still appear: while looking, and while idle.
SETTLE_EVERY_SECONDS = 0.25
SETTLE_IDLE_EVERY_SECONDS = 10.0
FIND_MISSED_AT_ONCE = 500


class Database:
    """Lease and connection of a loop. Between tries of a turn it calls `pause`.

    `loop_id` is None while the loop has no lease; then it sends nothing.
    """

    def __init__(self, stop: Callable[[], bool], pause: Pause = time.sleep) -> None:
        self.stop = stop
        self.pause = pause
        self.loop_id: str | None = None
        self.yields = self.draining = self.first = self._stops = False
        # Hosts that are held, and the monotonic time at which this loop noticed.
        self._held_since: dict[str, float] = {}
        self.status = (0, "")  # For the heartbeat: slots in use, and trouble with the proxy.
        self.loans = Loans()
        self._needs_recovery = False  # A statement without an answer may have claimed deliveries.
        self.claims_at_once = Portion(CLAIMS_AT_ONCE)
        self.results_at_once = Portion(RESULTS_AT_ONCE)
        self._tuned = False
        self._renewed_at = -math.inf
        # Latest known time of the database, and the monotonic time at which it was read.
        self._database_time: tuple[datetime, float] | None = None
        self._front, self._settled, self._settled_at = Front(), BEGINNING, -math.inf
        self._orphaned_at = self._missed_at = self._looked_around_at = -math.inf
        self._noted_at = -math.inf
        self._missed_before, self._missed_wait = lanes.FROM_THE_NEWEST, 0.0

    def take(self, turn: Turn) -> Turn:
        """Take a turn, and try again until the database answers.

        A loop that is to stop gives up after STOP_TRIES failures and raises OperationalError; its
        work is taken over when its lease expires.
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
                self._tuned = False
                self._needs_recovery = True
                self.pause(PAUSE_SECONDS)

    def has_lease(self, loop_id: str | None) -> bool:
        """Return whether claims under this id certainly still belong to this loop."""
        ours = clock.monotonic() - self._renewed_at < leases.LEASE_SECONDS
        return ours and self.loop_id == loop_id

    def is_held(self, url: str, claimed_at: float) -> bool:
        """Return whether the URL's host is held since after a delivery to it was claimed.

        A later claim has looked at the host itself.
        """
        return bool(self._held_since) and claimed_at < self._held_since.get(host_in(url), -math.inf)

    def lease_is_due(self, now: float) -> bool:
        """Return whether to renew the lease: in time, or to announce that this loop stops."""
        if not self.loop_id:
            return False
        stopping = self.stop() or self.yields
        return stopping > self._stops or now - self._renewed_at >= leases.HEARTBEAT_SECONDS

    def now(self) -> datetime:
        """Return the database's time, since receivers reject signatures of a wrong clock."""
        if self._database_time is None:
            return timezone.now()
        at, then = self._database_time
        return at + timedelta(seconds=clock.monotonic() - then)

    def close(self) -> None:
        """End the lease; other loops take over what has not been released."""
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
        loop_id = self.loop_id
        wakeups = self._keep_lease()
        if loop_id and self.loop_id != loop_id:
            # Other loops have taken over the lanes of which these were to be claimed.
            turn.claims, turn.firsts = ClaimBatch(), ClaimBatch()
        ATTEMPTS.log_suppressed()
        # Releasing comes first, so that this very turn can claim all of it again.
        self._release(turn)
        if self._needs_recovery:
            # Recording comes before any claim: what was recorded without an answer may be due
            # again, and recording it once more would end its next claim.
            self._record(turn)
        if self.loop_id and self._needs_recovery:
            self.loans.recover(self.loop_id)
            self._needs_recovery = False
            wakeups = True
        addresses: dict[int, Address] = {}
        if self.loop_id and turn.on_wake and wakeups and not self.draining:
            addresses = self._wake(turn, self.loop_id)
            turn.firsts.rooms |= turn.on_wake(turn.woken)
        if self.loop_id and turn.firsts.rooms:
            # Quick webhooks need not wait for the rest of the turn, which may be for slow ones.
            self.loans.claim(turn.firsts, self.loop_id, frozenset(self._held_since), addresses)
            firsts, turn.firsts = turn.firsts, ClaimBatch()
            turn.on_claim(firsts)
        self._record(turn)
        sums.write_if_due()
        if self.loop_id is None:
            return
        if turn.listening:
            self._front.walk(lanes.find_behind)
            self.loans.look_behind()
            self._find_missed()
            self._look_around(turn, self.loop_id, clock.monotonic())
            self._note_fronts(self.loop_id, clock.monotonic())
        if turn.claims.rooms:
            began = clock.monotonic()
            self.loans.claim(turn.claims, self.loop_id, frozenset(self._held_since))
            self.claims_at_once.adjust(len(turn.claims.rooms), clock.monotonic() - began)

    def _wake(self, turn: Turn, loop_id: str) -> dict[int, Address]:
        """Consume wake-ups; returns the addresses of the webhooks that woke up."""
        leave = 0.0 if self.first and not self.status[1] else LEAVE_SECONDS
        since = self._since(SETTLE_EVERY_SECONDS)
        began = clock.monotonic()
        turn.woken, turn.plenty, addresses, first, heard = lanes.take(
            loop_id, WAKEUPS_AT_ONCE, leave, since=since
        )
        self._looked(since, first, began)
        new = {each.webhook_id for each in turn.woken if each.is_new}
        self.loans.notice(loop_id, heard, new)
        return addresses

    def _since(self, settle_every: float) -> datetime:
        """Return from when on to look for wake-ups."""
        if (now := clock.monotonic()) - self._settled_at >= settle_every:
            self._settled, self._settled_at = lanes.settled(), now
        return self._front.start(clock.monotonic())

    def _looked(self, since: datetime, first: datetime | None, began: float) -> None:
        now = clock.monotonic()
        self._front.move(since, min(first or self._settled, self._settled), now - began, now)

    def _release(self, turn: Turn) -> None:
        self.loans.give_back(turn.back)
        turn.back = []
        if turn.released and (self.stop() or self.yields):
            fronts = self.loans.long_fronts()
            turn.to_transfer += [each for each in turn.released if each in fronts]
            turn.released = [each for each in turn.released if each not in fronts]
        if turn.released and self.loop_id:
            lanes.release(self.loop_id, turn.released, turn.unfinished)
            self.loans.forget(turn.released)
            turn.released = []
        if turn.to_transfer and self.loop_id:
            webhooks, fronts = turn.to_transfer, self.loans.long_fronts()
            sharing.transfer(self.loop_id, webhooks, fronts=fronts, hand_back=turn.hands_back)
            self.loans.forget(webhooks)
            turn.to_transfer = []

    def _record(self, turn: Turn) -> None:
        if turn.results:
            began = clock.monotonic()
            late = len(turn.results) - setting_aside.record_all(turn.results, turn.failing)
            if late:
                logger.warning("%d results arrived after their claim had ended", late)
            self.results_at_once.adjust(len(turn.results), clock.monotonic() - began)
            turn.recorded += len(turn.results)
            self.loans.end(turn.results[0].claim, {each.delivery_id for each in turn.results})
            tallying.tally_attempts(turn.results)
            attempt_log.log_attempts(turn.results)
            turn.results = []
        for webhook_id in tuple(turn.gone_webhooks):
            pausing.pause_gone(webhook_id)
            turn.gone_webhooks.discard(webhook_id)

    def _keep_lease(self) -> bool:
        """Renew the lease, or try to get one; returns whether wake-ups may be due."""
        now = clock.monotonic()
        since = now - self._renewed_at
        if self.loop_id and not self.lease_is_due(now):
            return True
        renewed = self._renew()
        if self.loop_id and not renewed:
            logger.warning("the other loops have given this one up; it starts again")
            self.loop_id = None
            self.loans = Loans()
        silent = renewed is None or renewed.silent_loops
        if silent and since < AWAY_SECONDS and (lost := leases.take_over()):
            logger.warning("%d loops are lost; their deliveries are taken over", len(lost))
            sums.write_sums()  # At once: a crash loop may end this process within a second.
        if not self.loop_id and not self.stop():
            self.loop_id = leases.join(settings.DELIVERY_LOOPS)
            self._renew()
        self._renewed_at = now
        return renewed is None or renewed.wakeups

    def _renew(self) -> leases.Renewal | None:
        stops = self.stop() or self.yields
        if not self.loop_id:
            return None
        since, began = self._since(SETTLE_IDLE_EVERY_SECONDS), clock.monotonic()
        renewed = leases.renew(self.loop_id, *self.status, stops, since, self._front.last)
        if renewed:
            if not renewed.wakeups:
                self._looked(since, None, began)
            self._stops = stops
            now = clock.monotonic()
            self._database_time = (renewed.at, now)
            self.yields, self.draining = renewed.yields, renewed.draining
            known = {host: self._held_since.get(host, now) for host in renewed.held_hosts}
            self._held_since = known
            self.first = renewed.first
        return renewed

    def _look_around(self, turn: Turn, loop_id: str, now: float) -> None:
        if now - self._looked_around_at < leases.HEARTBEAT_SECONDS:
            return
        self._looked_around_at = now
        if turn.pressed and turn.lanes > sharing.UNEVEN:
            turn.surplus = sharing.surplus(loop_id)
        elif turn.hands_back:
            turn.surplus = turn.lanes

    def _note_fronts(self, loop_id: str, now: float) -> None:
        if now >= self._noted_at + claiming.lease_seconds() / NOTES:
            self._noted_at = now
            self.loans.note_fronts(loop_id)

    def _find_missed(self) -> None:
        began = clock.monotonic()
        if began >= self._orphaned_at:
            self._orphaned_at = began + FREE_ORPHANED_EVERY_SECONDS
            if orphaned := leases.free_orphaned():
                logger.warning("%d webhooks belonged to loops that are no more", orphaned)
        if began < self._missed_at:
            return
        began = clock.monotonic()
        self._missed_before, missed = lanes.find_missed(self._missed_before, FIND_MISSED_AT_ONCE)
        if missed:
            logger.warning("%d webhooks had deliveries due and no wake-up", missed)
        now = clock.monotonic()
        is_long = now - began > LONG_SECONDS
        self._missed_wait = wait_after(now - began, self._missed_wait) if is_long else 0.0
        self._missed_at = now + max(self._missed_wait, FIND_MISSED_EVERY_SECONDS)
