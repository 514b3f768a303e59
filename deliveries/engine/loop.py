"""The engine room: claim, sign, send and record, for as long as the process runs.

Turns at the database go on beside the network, so that neither waits for the other. No statement
spans the network: a transfer never holds a lock. What a killed loop had claimed goes to others when
its lease has run out. What it had sent and not recorded is sent again, under the same X-Webhook-Id.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import cast

from core.jobs.bell import Bell
from deliveries.engine import claiming, clock, judging, rendering
from deliveries.engine.beside import Beside
from deliveries.engine.judging import Sent
from deliveries.engine.lane_book import FIRSTS_AT_ONCE, LaneBook
from deliveries.engine.lanes import Woken
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.presence import Presence
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rooms import Lane, Rooms
from deliveries.engine.signs import Sign
from deliveries.engine.standing_by import IDLE_SECONDS, PLENTY, Stand
from deliveries.engine.turn import ClaimBatch, Turn
from deliveries.engine.turns import RESULTS_AT_ONCE, Database
from deliveries.http.answers import Reply
from deliveries.http.transport import Transport

STARTS_AT_ONCE = 16  # Between two looks at the network; so no answer waits for many.
RECORD_AFTER_SECONDS = 0.02
LOOK_EVERY_SECONDS = 0.012  # While it finds something, and for LINGER_SECONDS afterwards.
LINGER_SECONDS = 2.0
ENOUGH_RESULTS = 2 * RESULTS_AT_ONCE  # Not recorded yet: after a kill they would be sent again.


class Engine:
    """`stop` is asked at every turn; once it says yes, nothing more is claimed or started.

    Turns at the database go on `beside`, one at a time; the `bell` has the loop look there at once.
    The `sign` tells its keeper how it goes.
    """

    def __init__(
        self,
        transport: Transport,
        stop: Callable[[], bool],
        beside: Beside,
        bell: Bell,
        sign: Sign | None = None,
    ) -> None:
        self.transport = transport
        self.stop = stop
        self.beside = beside
        self.bell = bell
        self.sign = sign or Sign()
        self.database = Database(stop, beside.pause)
        self.rooms = Rooms()
        self.book = LaneBook(self.rooms)
        self.results: list[AttemptResult] = []
        self.back: list[Claimed] = []
        self.turn: Future[Turn] | None = None
        self.attempts = 0
        # Of the last turn: it looked, found something, woke webhooks up. Halted: claim nothing.
        self.looked = self.found = self.woken = self.halted = False
        self.look_at = self.claim_at = self.tidy_at = self.began_at = 0.0
        self.recorded_at = self.found_at = self.busy_at = clock.monotonic()
        self.stand, self.presence = Stand(self.recorded_at), Presence()
        for each in (bell, beside):
            transport.wake_for(each.fileno())
        lease = self.database.has_lease  # others may have taken it over while we hung
        transport.ask_before_sending(lambda key: lease(cast(Sent, key).delivery.claim))

    def run(self, *, until_idle: bool = False) -> int:
        """Work until told to stop or yield or, `until_idle`, nothing is due; returns attempts."""
        while True:
            stopping = self.stop() or self.database.yields
            now = self.presence.notice(0.0)
            self.halted = self.database.draining or self.transport.outage.rests(now)
            quiet = stopping or self.halted
            self.beside.go_on()
            if self.turn and self.turn.done():
                self.finish_turn(now)
            if quiet:
                self.back += self.book.drop_all()
            if self.turn is None:
                self.begin_turn(now, stopping)
            more = not quiet and self.start_held(now)
            self.beside.go_on()  # Once more: a turn has several answers to wait for.
            if self.is_over(stopping, until_idle):
                self.let_go()
                return self.attempts
            patience = 0.0 if more else self.patience(now)
            self.busy_at = now if len(self.book) else self.busy_at
            self.sign.write(now + patience, self.stand.pressed_until, self.busy_at)
            replies = self.transport.wait(patience)
            self.presence.notice(patience)
            if self.transport.rung and self.bell.silence():
                self.look_at = self.stand.ring(clock.monotonic(), self.look_at, len(self.book))
            self.take_replies(replies)

    def is_over(self, stopping: bool, until_idle: bool) -> bool:
        if self.turn or self.rooms.in_flight or self.results or self.back:
            return False
        waits = self.found or self.rooms.holding or len(self.rooms.to_claim)
        return stopping or (until_idle and not waits)

    def begin_turn(self, now: float, stopping: bool) -> None:
        """Go to the database if there is a reason to: to look and to write, one after the other.

        What has woken up and was not claimed at once is claimed before all else.
        """
        soon, late = self.write, self.look
        if self.woken or not self.looked:
            soon, late = late, soon
        if turn := soon(now, stopping) or late(now, stopping):
            self.looked, self.woken, self.back = turn.listening, False, []
            self.database.tells = (self.rooms.in_flight, self.transport.outage.trouble)
            self.began_at = now
            self.stand.tell(turn, now, self.database.first)
            self.turn = self.beside.begin(partial(self.database.take, turn))

    def look(self, now: float, stopping: bool) -> Turn | None:
        """A turn to hear who has woken up and to claim what is due."""
        if stopping:
            return None
        turn = Turn(back=self.back, lanes=len(self.book), hear=self.hear, enter=self.enter)
        if now >= self.claim_at and not self.halted and len(self.results) < ENOUGH_RESULTS:
            turn.claims.rooms = self.book.claims(now, self.database.claims_at_once.size)
            self.claim_at = now + LOOK_EVERY_SECONDS
        turn.listening = now >= self.look_at or bool(turn.claims.rooms)
        return turn if turn.listening else None

    def write(self, now: float, stopping: bool) -> Turn | None:
        """A turn to record what is finished and to release what is not needed."""
        turn = Turn(back=self.back, hear=None if stopping else self.hear, enter=self.enter)
        at_once = self.database.results_at_once.size
        waited = now - self.recorded_at > RECORD_AFTER_SECONDS
        if waited or len(self.results) >= at_once or self.book.silent or stopping:
            # A receiver that wants silence gets it once that is written, however much there is.
            count = len(self.results) if self.book.silent or stopping else at_once
            self.results = turn.take_results(self.results, count)
            turn.silenced = set(self.book.silent)
        if turn.results:
            self.recorded_at = now
            turn.failing = self.book.note(turn.results)
        self.book.give_away(turn, now)
        if stopping:
            self.book.release_free(turn)
        elif now >= self.tidy_at:
            self.tidy_at = now + IDLE_SECONDS
            self.book.release_idle(turn, now)
        # Who hears on the way need not look soon afterwards, unless there is more to claim.
        turn.listening = not (stopping or self.rooms.to_claim)
        waits = stopping and self.rooms.in_flight > 0
        return turn if turn.writes or (waits and self.database.lease_is_due(now)) else None

    def hear(self, woken: Sequence[Woken]) -> dict[int, int]:
        """Within a turn, note who has woken up; returns what of it to claim first."""
        self.book.belong_to(self.database.loop_id)
        calm = not self.halted and len(self.results) < self.database.results_at_once.size
        most = 0 if self.halted else FIRSTS_AT_ONCE
        firsts = self.book.hear(woken, clock.monotonic(), most, calm)
        self.woken |= any(each.webhook_id not in firsts for each in woken)
        return firsts

    def enter(self, claims: ClaimBatch) -> None:
        self.book.belong_to(self.database.loop_id)
        self.back += self.book.enter(claims)
        self.stand.note(len(claims.claimed), self.rooms, clock.monotonic())

    def finish_turn(self, now: float) -> None:
        turn, self.turn = cast("Future[Turn]", self.turn).result(), None
        self.attempts += turn.recorded
        self.book.silent -= turn.silenced
        self.enter(turn.claims)
        self.back += self.book.let_leave(turn.surplus, now)
        claimed, more = turn.claims.claimed, turn.claims.more or turn.recorded  # Followers are due.
        self.found = bool(claimed or more or turn.woken) or not turn.listening
        self.found_at = now if self.found else self.found_at
        pace = LOOK_EVERY_SECONDS if now - self.found_at < LINGER_SECONDS else self.stand.pace(now)
        # By the beginning of a turn, so that a long one does not make the next wait longer.
        look_at = now if turn.plenty else max(self.began_at + pace, now + pace / 3)
        self.look_at = look_at if turn.listening else min(self.look_at, look_at)
        if self.woken or len(claimed) >= PLENTY:
            self.claim_at = now
        elif turn.claims.rooms:
            # Looks alone put nothing off: there may be one every few milliseconds.
            self.claim_at = now + LOOK_EVERY_SECONDS

    def start_held(self, now: float) -> bool:
        """Start what is held, in turn, as long as there is room; True if there may be more."""
        self.rooms.grow_old(now)
        if self.rooms.holding and not self.database.has_lease(self.book.loop_id):
            # Others may have taken it over, while we hung or could not reach the database.
            self.back += self.book.drop_all()
            return False
        stale = now - claiming.lease_seconds() / 2
        at = self.database.now()
        probing = self.transport.outage.failing  # One finds out whether the proxy works again.
        for _ in range(int(not self.rooms.in_flight) if probing else STARTS_AT_ONCE):
            if (started := self.rooms.next_start(now)) is None:
                return False
            lane, delivery = started
            if delivery.claimed_at < stale:
                # What is left of its claim may not outlast the attempt.
                self.back += [delivery, *self.book.drop(lane)]
                self.book.wake(lane)
            else:
                self.start(lane, delivery, at, now)
        return not probing

    def start(self, lane: Lane, delivery: Claimed, at: datetime, now: float) -> None:
        address = cast(Address, lane.address)
        sent = Sent(delivery, address.url, at, self.rooms.start(lane, now))
        request = rendering.write_request(delivery, address, at, sent)
        if isinstance(request, Reply):
            self.take_replies([request])
        else:
            self.transport.start(request)

    def take_replies(self, replies: Iterable[Reply]) -> None:
        now = clock.monotonic()
        for reply in replies:
            sent = cast(Sent, reply.key)
            flight, lane = sent.flight, sent.flight.lane
            self.rooms.end(flight, now)
            over_time = reply.error in judging.OVER_TIME
            unseen = over_time and self.presence.interrupted_since(flight.started)
            if unseen or reply.error in judging.NOT_ASKED:
                # Nobody was there to see the answer, or nobody was asked: no failure of theirs.
                self.back.append(sent.delivery)
                self.book.wake(lane)
                continue
            seconds = reply.duration_ms / 1000
            result = judging.judge(sent, reply, random.random())  # noqa: S311 - jitter
            if reply.ok:
                self.rooms.succeeded(flight, seconds, now)
            elif reply.status is not None:
                self.rooms.refused(flight, seconds)
            else:
                self.rooms.unanswered(flight, seconds)
                self.back += self.book.drop(lane)
            if judging.wants_silence(result):
                self.book.silent.add(lane.webhook_id)
                self.back += self.book.drop(lane)
            self.results.append(result)

    def patience(self, now: float) -> float:
        """For how long to wait for the network, in seconds: a bell ends it as well."""
        if self.turn:
            return min(IDLE_SECONDS, self.beside.patience(now))
        if self.results or self.rooms.in_flight or (self.rooms.to_claim and not self.halted):
            return min(LOOK_EVERY_SECONDS, max(LOOK_EVERY_SECONDS / 6, self.look_at - now))
        return max(0.0, min(self.look_at, self.tidy_at) - now)

    def let_go(self) -> None:
        """Release every webhook that is left, then the lease."""
        self.beside.finish(partial(self.database.take, self.book.release_free(Turn())))
        self.beside.finish(self.database.close)
