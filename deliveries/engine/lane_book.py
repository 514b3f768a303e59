"""Lanes of one engine loop, and the choice of those to claim from next. No database."""

import math
from collections.abc import Iterable
from weakref import WeakValueDictionary

from deliveries.engine.lanes import Woken
from deliveries.engine.loans import Claimed
from deliveries.engine.pace import FIRST_SIZE, Pace
from deliveries.engine.recording import AttemptResult
from deliveries.engine.round_robin import Turns
from deliveries.engine.slots import FIRST_SLOTS, KEEP_SECONDS, Host, Lane, Slots
from deliveries.engine.turn import ClaimBatch, Turn
from deliveries.engine.turns import CLAIMS_AT_ONCE
from deliveries.models import State

# A loop with more lanes releases some, so that webhooks it has no room for get their turn.
MOST_LANES = 10_000
# Lanes being transferred to other loops at a time, and how long their last requests may take.
MOST_LEAVING = 64
LEAVE_SECONDS = 0.5
# Webhooks and deliveries of a brief claim: it costs a backlog a tenth of its rate and halves the
# wait of others. Claims are brief for BRIEF_SECONDS after a quick webhook has woken up.
BRIEF_CLAIM_WEBHOOKS, BRIEF_CLAIM = 6, 36
BRIEF_SECONDS = 2.0
FIRSTS_AT_ONCE = 16  # Companies with nothing in hand, claimed for in the turn that wakes them up.
# Without any webhook waiting for a claim, such a claim is for more webhooks, and this many of each.
CALM_WEBHOOKS, CALM_SIZE = 32, 8
DELIVERED = State.DELIVERED


class LaneBook:
    """Lanes by webhook id. `now` is monotonic time."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        # Loop id under which this loop has the lanes.
        self.loop_id: str | None = None
        self._lanes: dict[int, Lane] = {}
        self._hosts: WeakValueDictionary[str, Host] = WeakValueDictionary()
        # Lanes to transfer to another loop, with the time by which they must be free.
        self._leaving: dict[Lane, float] = {}
        # Webhooks whose receivers asked for no further requests, until that is recorded.
        self.silent: set[int] = set()
        # Claims are brief until then, as a quick webhook may be waiting for the end of one.
        self._brief_until = -math.inf
        self._claiming = False

    def __len__(self) -> int:
        return len(self._lanes)

    def next_claims(self, now: float, most: int) -> dict[int, int]:
        """Choose up to `most` webhooks to claim from next; returns how many deliveries of each."""
        claims = self._choose_claims(now, most)
        self._claiming = bool(claims)
        return claims

    def _choose_claims(self, now: float, most: int) -> dict[int, int]:
        waiting, (quick, slow) = self._slots.to_claim, self._slots.room_ahead(now)
        if now < self._brief_until:
            most = min(most, BRIEF_CLAIM_WEBHOOKS)
            quick, slow = min(quick, BRIEF_CLAIM), min(slow, BRIEF_CLAIM)
        most_quick = most - most // 2 if len(waiting.slow) else most
        claims = self._pick_from(waiting.quick, now, quick, most_quick)
        if slow > 0:
            return claims | self._pick_from(waiting.slow, now, slow, most - len(claims))
        firsts = min(slow + FIRST_SLOTS, most - len(claims))
        for lane in waiting.slow.firsts(self._slots.has_nothing, firsts):
            if count := self._begin_claim(lane, now, 1):
                claims[lane.webhook_id] = count
        return claims

    def _pick_from(self, lanes: Turns[Lane], now: float, budget: int, most: int) -> dict[int, int]:
        share = max(1, budget // max(1, min(len(lanes), most)))
        claims: dict[int, int] = {}
        for _ in range(min(len(lanes), CLAIMS_AT_ONCE)):
            if budget <= 0 or len(claims) >= most:
                break
            lane = lanes.next()
            if count := self._begin_claim(lane, now, min(share, budget)):
                claims[lane.webhook_id] = count
                budget -= count
        return claims

    def _begin_claim(self, lane: Lane, now: float, share: int) -> int:
        """Return how many deliveries of a lane to claim; if none, queue the lane again."""
        allowed = min(self._slots.allowance(lane, now), share)
        if allowed <= 0 or lane.webhook_id in self.silent:
            self._slots.to_claim.add(lane)
            return 0
        lane.due, lane.claiming = False, True
        return allowed

    def add_woken(
        self, woken: Iterable[Woken], now: float, most: int, calm: bool = False
    ) -> dict[int, int]:
        """Add webhooks that woke up; returns how many deliveries to claim at once, by webhook.

        Up to `most` companies with nothing in flight or claimed get a claim for one webhook each,
        so that a quick one need not wait for another turn while there is much to do for others,
        whose claims are brief from then on. If `calm` and no lane waits for a claim, all get one.
        """
        claims: dict[int, int] = {}
        companies: set[int] = set()
        calm &= not (self._claiming or self._slots.to_claim) and self._slots.holding < BRIEF_CLAIM
        most = CALM_WEBHOOKS if calm else most
        for webhook_id, company_id, is_new in woken:
            if is_new or webhook_id not in self._lanes:
                self._lanes[webhook_id] = Lane(webhook_id, company_id, Pace(now), now)
            lane = self._lanes[webhook_id]
            self.wake(lane)
            first = calm or (company_id not in companies and self._slots.has_nothing(company_id))
            if len(claims) < most and first and not (lane.claiming or lane.leaving):
                companies.add(company_id)
                self._slots.to_claim.discard(lane)
                if count := self._begin_claim(lane, now, CALM_SIZE if calm else FIRST_SIZE):
                    claims[webhook_id] = count
        if claims and self._slots.in_flight and not calm:
            self._brief_until = now + BRIEF_SECONDS
        return claims

    def add_claimed(self, claims: ClaimBatch) -> list[Claimed]:
        """Add claimed deliveries to their lanes; returns those to give back unsent."""
        self._claiming = False
        for webhook_id in claims.rooms:
            if lane := self._lanes.get(webhook_id):
                lane.claiming = False
                lane.answered = 0
                lane.keep = claims.keep.get(webhook_id, lane.keep)
                self._set_address(lane, claims)
        back = []
        for delivery in claims.claimed:
            lane = self._lanes.get(delivery.webhook_id)
            if lane and lane.webhook_id not in self.silent:
                self._slots.hold(lane, delivery)
            else:
                back.append(delivery)
        return back

    def choose_leaving(self, surplus: int, now: float, *, busy: bool = True) -> list[Claimed]:
        """Choose lanes to transfer to another loop; returns their deliveries to give back.

        Without `busy`, only idle ones: what is due for a lane waits until the other loop looks.
        """
        if surplus <= len(self._leaving):
            return []
        back = []
        # The lanes that are free soonest go first. A failing one waits for the end of its probe.
        for lane in sorted(self._lanes.values(), key=lambda lane: (lane.failing, lane.in_flight)):
            if len(self._leaving) >= min(surplus, MOST_LEAVING):
                break
            if not lane.leaving and (busy or not lane.busy):
                lane.leaving = True
                self._leaving[lane] = now + LEAVE_SECONDS
                self._slots.to_claim.discard(lane)
                back += self.drop(lane)
        return back

    def transfer_free(self, turn: Turn, now: float) -> None:
        """Transfer lanes that are free by now; those that take too long stay."""
        for lane, until in list(self._leaving.items()):
            if self._lanes.get(lane.webhook_id) is not lane:
                del self._leaving[lane]
            elif self._is_free(lane):
                del self._leaving[lane], self._lanes[lane.webhook_id]
                turn.to_transfer.append(lane.webhook_id)
            elif now > until:
                del self._leaving[lane]
                lane.leaving = False
                if lane.due:
                    self.wake(lane)

    def wake(self, lane: Lane) -> None:
        """Queue a lane for a claim, unless it no longer belongs to this loop."""
        if self._lanes.get(lane.webhook_id) is not lane:
            return
        lane.due = True
        if not (lane.claiming or lane.leaving):
            self._slots.to_claim.add(lane)

    def wake_for(self, back: Iterable[Claimed]) -> None:
        """Queue the lanes of deliveries that are about to be given back."""
        for delivery in back:
            if lane := self._lanes.get(delivery.webhook_id):
                self.wake(lane)

    def update_failing(self, results: Iterable[AttemptResult]) -> set[int]:
        """Update which lanes are failing; returns the webhooks that were failing before."""
        failing = set()
        for result in results:
            lane = self._lanes.get(result.webhook_id)
            if lane is None or lane.failing:
                failing.add(result.webhook_id)
            if lane:
                lane.failing = result.state != DELIVERED
        return failing

    def release_idle(self, turn: Turn, now: float) -> None:
        """Release lanes that are idle, and those that exceed MOST_LANES."""
        for lane in list(self._lanes.values()):
            if not lane.busy and now - lane.idle_since > lane.keep:
                self._release(lane, turn)
        if (too_many := len(self._lanes) - MOST_LANES) > 0:
            free = [lane for lane in self._lanes.values() if self._is_free(lane)]
            for lane in free[:too_many]:
                self._release(lane, turn)

    def release_free(self, turn: Turn) -> Turn:
        """Release, at a stop, all lanes with nothing in flight and no result in this turn."""
        recorded = {each.webhook_id for each in turn.results}
        for lane in list(self._lanes.values()):
            if not (lane.in_flight or lane.claiming or lane.webhook_id in recorded):
                lane.due = True
                self._release(lane, turn)
        return turn

    def drop_all(self) -> list[Claimed]:
        """Remove and return the deliveries of all lanes that are claimed and not started."""
        return [each for lane in self._lanes.values() if lane.stock for each in self.drop(lane)]

    def drop(self, lane: Lane) -> list[Claimed]:
        """Remove and return deliveries that are claimed and not started, to be claimed again."""
        dropped = self._slots.drop(lane)
        if dropped:
            self.wake(lane)
        return dropped

    def set_loop_id(self, loop_id: str | None) -> None:
        """Forget all lanes if the loop id has changed: they belong to other loops by now."""
        if loop_id == self.loop_id:
            return
        self.loop_id = loop_id
        for lane in self._lanes.values():
            self._slots.drop(lane)
            self._slots.to_claim.discard(lane)
            lane.due = False
        self._lanes.clear()
        self._leaving.clear()

    def _is_free(self, lane: Lane) -> bool:
        """Return whether another loop may have the lane.

        One whose receiver wants no more requests stays until that is recorded.
        """
        unrecorded = lane.webhook_id in self.silent
        return not (lane.in_flight or lane.claiming or lane.stock or unrecorded)

    def _set_address(self, lane: Lane, claims: ClaimBatch) -> None:
        address = claims.addresses.get(lane.webhook_id)
        if address is None:
            # Paused, deleted or resting: whatever ends this state also wakes the webhook up.
            if lane.keep == KEEP_SECONDS:
                lane.idle_since = -math.inf
            return
        lane.address = address
        lane.failing = address.failing
        lane.most = address.max_in_flight
        if address.probe:
            lane.pace.probe()
        lane.host = self._hosts.setdefault(address.host, Host())
        if lane.due or lane.webhook_id in claims.more:
            self.wake(lane)

    def _release(self, lane: Lane, turn: Turn) -> None:
        del self._lanes[lane.webhook_id]
        self._slots.to_claim.discard(lane)
        turn.released.append(lane.webhook_id)
        if lane.due:
            turn.unfinished.append(lane.webhook_id)
