"""Engine loop: claim, sign, send and record, for as long as the process runs.

Turns at the database and network traffic are concurrent, so that neither waits for the other. No
transaction spans a transfer, so no lock is held meanwhile. The claims of a killed loop go to others
when its lease expires; what it had not recorded is sent again, with the same X-Webhook-Id.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import cast

from core.jobs.bell import Bell
from deliveries.engine import claiming, clock, judging, rendering
from deliveries.engine.judging import AttemptContext
from deliveries.engine.lane_book import FIRSTS_AT_ONCE, LaneBook
from deliveries.engine.lanes import Woken
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.presence import Presence
from deliveries.engine.recording import AttemptResult
from deliveries.engine.runner import Runner
from deliveries.engine.signs import Sign
from deliveries.engine.slots import LONGEST_WAIT_SECONDS, Lane, Slots
from deliveries.engine.standing_by import IDLE_SECONDS, PLENTY, LoopLoad
from deliveries.engine.turn import ClaimBatch, Turn
from deliveries.engine.turns import RESULTS_AT_ONCE, Database
from deliveries.http.answers import Reply
from deliveries.http.transport import Transport

STARTS_AT_ONCE = 16  # Between two looks at the network, so that no reply waits for many starts.
RECORD_AFTER_SECONDS = 0.02
LOOK_EVERY_SECONDS = 0.012  # While there is work, and for LINGER_SECONDS afterwards.
LINGER_SECONDS = 2.0
ENOUGH_RESULTS = 2 * RESULTS_AT_ONCE  # No claims with more unrecorded: a kill repeats them all.


class Engine:
    """One engine loop. Once `stop` returns True, it claims and starts nothing more.

    The `runner` executes turns at the database, one at a time; a ring of the `bell` starts one at
    once. The `sign` shows the state of the loop to its keeper.
    """

    def __init__(
        self,
        transport: Transport,
        stop: Callable[[], bool],
        runner: Runner,
        bell: Bell,
        sign: Sign | None = None,
    ) -> None:
        self.transport = transport
        self.stop = stop
        self.runner = runner
        self.bell = bell
        self.sign = sign or Sign()
        self.database = Database(stop, runner.pause)
        self.slots = Slots()
        self.book = LaneBook(self.slots)
        self.results: list[AttemptResult] = []
        self.back: list[Claimed] = []
        self.turn: Future[Turn] | None = None
        self.attempts = 0
        # About the last turn: it looked for work, found some, woke webhooks up.
        self.looked = self.has_work = self.woken = False
        self.halted = False
        self.look_at = self.claim_at = self.tidy_at = self.began_at = 0.0
        self.recorded_at = self.worked_at = self.busy_at = clock.monotonic()
        self.load, self.presence = LoopLoad(self.recorded_at), Presence()
        for each in (bell, runner):
            transport.wake_for(each.fileno())
        lease = self.database.has_lease  # other loops may have taken over while this one hung
        transport.ask_before_sending(lambda key: lease(cast(AttemptContext, key).delivery.claim))

    def run(self, *, until_idle: bool = False) -> int:
        """Work until stopped, asked to yield or, if `until_idle`, idle; returns attempts."""
        while True:
            stopping = self.stop() or self.database.yields
            now = self.presence.notice(0.0)
            self.halted = self.database.draining or self.transport.outage.rests(now)
            quiet = stopping or self.halted
            self.runner.resume()
            if self.turn and self.turn.done():
                self.finish_turn(now)
            if quiet:
                self.back += self.book.drop_all()
            if self.turn is None:
                self.begin_turn(now, stopping)
            more = not quiet and self.start_held(now)
            self.runner.resume()  # A turn waits for several answers: the next may have arrived.
            if self.is_over(stopping, until_idle):
                self.shut_down()
                return self.attempts
            patience = 0.0 if more else self.patience(now)
            self.busy_at = now if len(self.book) else self.busy_at
            self.sign.write(now + patience, self.load.pressed_until, self.busy_at)
            replies = self.transport.wait(patience)
            self.presence.notice(patience)
            if self.transport.rung and self.bell.silence():
                self.look_at = self.load.ring(clock.monotonic(), self.look_at, len(self.book))
            self.take_replies(replies)

    def is_over(self, stopping: bool, until_idle: bool) -> bool:
        if self.turn or self.slots.in_flight or self.results or self.back:
            return False
        waits = self.has_work or self.slots.holding or len(self.slots.to_claim)
        return stopping or (until_idle and not waits)

    def begin_turn(self, now: float, stopping: bool) -> None:
        """Begin a turn at the database if there is a reason to; turns look and write alternately.

        Webhooks that woke up and were not claimed at once are claimed before all else.
        """
        # They are woken here, as a claim of the last turn may have looked for them in vain.
        self.book.wake_for(self.back)
        first, second = self.write, self.look
        if self.woken or not self.looked:
            first, second = second, first
        if turn := first(now, stopping) or second(now, stopping):
            self.looked, self.woken, self.back = turn.listening, False, []
            self.database.status = (self.slots.in_flight, self.transport.outage.trouble)
            self.began_at = now
            self.load.mark(turn, now, self.database.first)
            self.turn = self.runner.start(partial(self.database.take, turn))

    def look(self, now: float, stopping: bool) -> Turn | None:
        """Return a turn that consumes wake-ups and claims due deliveries, or None."""
        if stopping:
            return None
        turn = Turn(
            back=self.back, lanes=len(self.book), on_wake=self.on_wake, on_claim=self.on_claim
        )
        if now >= self.claim_at and not self.halted and len(self.results) < ENOUGH_RESULTS:
            turn.claims.rooms = self.book.next_claims(now, self.database.claims_at_once.size)
            self.claim_at = now + LOOK_EVERY_SECONDS
        turn.listening = now >= self.look_at or bool(turn.claims.rooms)
        return turn if turn.listening else None

    def write(self, now: float, stopping: bool) -> Turn | None:
        """Return a turn that records results and releases idle lanes, or None."""
        turn = Turn(
            back=self.back, on_wake=None if stopping else self.on_wake, on_claim=self.on_claim
        )
        at_once = self.database.results_at_once.size
        waited = now - self.recorded_at > RECORD_AFTER_SECONDS
        if waited or len(self.results) >= at_once or self.book.silent or stopping:
            # All results are recorded, as one that asks for silence counts once it is recorded.
            count = len(self.results) if self.book.silent or stopping else at_once
            self.results = turn.take_results(self.results, count)
            turn.silenced = set(self.book.silent)
        if turn.results:
            self.recorded_at = now
            turn.failing = self.book.update_failing(turn.results)
        self.book.transfer_free(turn, now)
        if stopping:
            self.book.release_free(turn)
        elif now >= self.tidy_at:
            self.tidy_at = now + IDLE_SECONDS
            self.book.release_idle(turn, now)
        # A turn that also consumes wake-ups replaces the next look, unless there is more to claim.
        turn.listening = not (stopping or self.slots.to_claim)
        waits = stopping and self.slots.in_flight > 0
        return turn if turn.writes or (waits and self.database.lease_is_due(now)) else None

    def on_wake(self, woken: Sequence[Woken]) -> dict[int, int]:
        """Add, within a turn, webhooks that woke up; returns how many deliveries to claim first."""
        self.book.set_loop_id(self.database.loop_id)
        calm = not self.halted and len(self.results) < self.database.results_at_once.size
        most = 0 if self.halted else FIRSTS_AT_ONCE
        firsts = self.book.add_woken(woken, clock.monotonic(), most, calm)
        self.woken |= any(each.webhook_id not in firsts for each in woken)
        return firsts

    def on_claim(self, claims: ClaimBatch) -> None:
        self.book.set_loop_id(self.database.loop_id)
        self.back += self.book.add_claimed(claims)
        self.load.record(len(claims.claimed), self.slots, clock.monotonic())

    def finish_turn(self, now: float) -> None:
        turn, self.turn = cast("Future[Turn]", self.turn).result(), None
        self.attempts += turn.recorded
        self.book.silent -= turn.silenced
        self.on_claim(turn.claims)
        self.back += self.book.choose_leaving(turn.surplus, now, busy=not turn.hands_back)
        claimed, more = turn.claims.claimed, turn.claims.more or turn.recorded  # Followers are due.
        self.has_work = bool(claimed or more or turn.woken) or not turn.listening
        self.worked_at = now if self.has_work else self.worked_at
        lingers = now - self.worked_at < LINGER_SECONDS
        interval = LOOK_EVERY_SECONDS if lingers else self.load.look_interval(now)
        # Counted from the beginning of a turn, so that a long one does not delay the next.
        look_at = now if turn.plenty else max(self.began_at + interval, now + interval / 3)
        self.look_at = look_at if turn.listening else min(self.look_at, look_at)
        if self.woken or len(claimed) >= PLENTY:
            self.claim_at = now
        elif turn.claims.rooms:
            # A turn that only looks postpones no claim: there may be one every few milliseconds.
            self.claim_at = now + LOOK_EVERY_SECONDS

    def start_held(self, now: float) -> bool:
        """Start claimed deliveries while there are slots; returns whether there may be more."""
        self.slots.mark_slow(now)
        if self.slots.holding and not self.database.has_lease(self.book.loop_id):
            # Other loops may have taken over while this one hung or could not reach the database.
            self.back += self.book.drop_all()
            return False
        stale, long_ago = now - claiming.lease_seconds() / 2, now - LONGEST_WAIT_SECONDS
        at = self.database.now()
        probing = self.transport.outage.failing  # A single request tests the proxy.
        for _ in range(int(not self.slots.in_flight) if probing else STARTS_AT_ONCE):
            if (started := self.slots.next_start(now)) is None:
                return False
            lane, delivery = started
            url = cast(Address, lane.address).url
            oldest = long_ago if lane.waited else stale
            if delivery.claimed_at < oldest or self.database.is_held(url, delivery.claimed_at):
                # The webhook may be paused by now, the claim might end before the attempt does, or
                # an operator holds the host.
                self.back += [delivery, *self.book.drop(lane)]
            else:
                self.start(lane, delivery, at, now)
        return not probing

    def start(self, lane: Lane, delivery: Claimed, at: datetime, now: float) -> None:
        address = cast(Address, lane.address)
        context = AttemptContext(delivery, address.url, at, self.slots.start(lane, now))
        request = rendering.write_request(delivery, address, at, context)
        if isinstance(request, Reply):
            self.take_replies([request])
        else:
            self.transport.start(request)

    def take_replies(self, replies: Iterable[Reply]) -> None:
        now = clock.monotonic()
        for reply in replies:
            context = cast(AttemptContext, reply.key)
            flight, lane = context.flight, context.flight.lane
            self.slots.end(flight, now)
            over_time = reply.error in judging.OVER_TIME
            unseen = over_time and self.presence.interrupted_since(flight.started)
            if unseen or reply.error in judging.NOT_ASKED:
                # The loop may have missed the response, or sent nothing: the receiver did not fail.
                self.back.append(context.delivery)
                continue
            seconds = reply.duration_ms / 1000
            result = judging.judge(context, reply, random.random())  # noqa: S311 - jitter
            if reply.ok:
                self.slots.succeeded(flight, seconds, now)
            elif reply.status is not None:
                self.slots.refused(flight, seconds)
            else:
                self.slots.unanswered(flight, seconds)
                self.back += self.book.drop(lane)
            if judging.wants_silence(result):
                self.book.silent.add(lane.webhook_id)
                self.back += self.book.drop(lane)
            self.results.append(result)

    def patience(self, now: float) -> float:
        """Return how many seconds to wait for the network, or for the bell."""
        if self.turn:
            return min(IDLE_SECONDS, self.runner.seconds_left(now))
        writes = self.results or self.back
        if writes or self.slots.in_flight or (self.slots.to_claim and not self.halted):
            return min(LOOK_EVERY_SECONDS, max(LOOK_EVERY_SECONDS / 6, self.look_at - now))
        return max(0.0, min(self.look_at, self.tidy_at) - now)

    def shut_down(self) -> None:
        """Release all remaining webhooks, then the lease."""
        self.runner.run(partial(self.database.take, self.book.release_free(Turn())))
        self.runner.run(self.database.close)
