"""The lanes of one engine loop, and which of them to claim from next. No database."""

import math
from collections.abc import Iterable
from weakref import WeakValueDictionary

from deliveries.engine.lanes import Woken
from deliveries.engine.loans import Claimed
from deliveries.engine.pace import FIRST_SIZE, Pace
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rooms import FIRST_SLOTS, Host, Lane, Rooms
from deliveries.engine.round_robin import Turns
from deliveries.engine.turn import ClaimBatch, Turn
from deliveries.engine.turns import CLAIMS_AT_ONCE
from deliveries.models import State

# A webhook with nothing to do is kept for so long, with what was learnt about its receiver.
KEEP_SECONDS = 2.0
# A loop with more lanes lets go of some, so that those it has no room for get their turn.
MOST_LANES = 10_000
# So many go to another loop at a time, and so long may what is in flight of one take.
MOST_LEAVING, LEAVE_SECONDS = 64, 0.5
# A brief claim is of so many webhooks and deliveries: it costs the backlog it is for a tenth of its
# rate, and halves what others wait beside it. Claims are brief for so long after one who was quick.
BRIEF_CLAIM_WEBHOOKS, BRIEF_CLAIM, BRIEF_SECONDS = 6, 36, 2.0
FIRSTS_AT_ONCE = 16  # Of companies that have nothing: claimed in the turn in which they wake up.
# Of all that wake up, where nobody waits for a claim: so many webhooks, and so many of each.
CALM_WEBHOOKS, CALM_SIZE = 32, 8
DELIVERED = State.DELIVERED


class LaneBook:
    """Knows each lane by its webhook. `now` is a monotonic clock."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        # The lease under which the loop has these lanes.
        self.loop_id: str | None = None
        self._lanes: dict[int, Lane] = {}
        self._hosts: WeakValueDictionary[str, Host] = WeakValueDictionary()
        # Those that go to another loop, and until when they may take to be free.
        self._leaving: dict[Lane, float] = {}
        # Webhooks whose receiver said to send nothing more, which is not yet written down.
        self.silent: set[int] = set()
        # Until then somebody who is quick may wait for the end of another's claim.
        self._brief_until = -math.inf
        self._claiming = False

    def __len__(self) -> int:
        return len(self._lanes)

    def claims(self, now: float, most: int) -> dict[int, int]:
        """How many deliveries to claim next, by webhook; of `most` webhooks at once."""
        claims = self._claims(now, most)
        self._claiming = bool(claims)
        return claims

    def _claims(self, now: float, most: int) -> dict[int, int]:
        waiting, (quick, slow) = self._rooms.to_claim, self._rooms.room_ahead(now)
        if now < self._brief_until:
            most = min(most, BRIEF_CLAIM_WEBHOOKS)
            quick, slow = min(quick, BRIEF_CLAIM), min(slow, BRIEF_CLAIM)
        most_quick = most - most // 2 if len(waiting.slow) else most
        claims = self._claims_of(waiting.quick, now, quick, most_quick)
        if slow > 0:
            return claims | self._claims_of(waiting.slow, now, slow, most - len(claims))
        firsts = min(slow + FIRST_SLOTS, most - len(claims))
        for lane in waiting.slow.firsts(self._rooms.has_nothing, firsts):
            if asked := self._ask(lane, now, 1):
                claims[lane.webhook_id] = asked
        return claims

    def _claims_of(self, lanes: Turns[Lane], now: float, budget: int, most: int) -> dict[int, int]:
        share = max(1, budget // max(1, min(len(lanes), most)))
        claims: dict[int, int] = {}
        for _ in range(min(len(lanes), CLAIMS_AT_ONCE)):
            if budget <= 0 or len(claims) >= most:
                break
            lane = lanes.next()
            if asked := self._ask(lane, now, min(share, budget)):
                claims[lane.webhook_id] = asked
                budget -= asked
        return claims

    def _ask(self, lane: Lane, now: float, share: int) -> int:
        """How many to claim of a lane whose turn it is; without any it waits on."""
        allowed = min(self._rooms.allowance(lane, now), share)
        if allowed <= 0 or lane.webhook_id in self.silent:
            self._rooms.to_claim.add(lane)
            return 0
        lane.due, lane.claiming = False, True
        return allowed

    def hear(
        self, woken: Iterable[Woken], now: float, most: int, calm: bool = False
    ) -> dict[int, int]:
        """Note who has woken up; how many deliveries to claim at once, by webhook.

        Of up to `most` companies that have nothing in flight or held, a webhook each: what is quick
        does not wait for another turn while there is much to do for others, and claims for those
        are brief from then on. Where it is `calm` and nobody waits for a claim, of any company.
        """
        claims: dict[int, int] = {}
        companies: set[int] = set()
        calm &= not (self._claiming or self._rooms.to_claim) and self._rooms.holding < BRIEF_CLAIM
        most = CALM_WEBHOOKS if calm else most
        for webhook_id, company_id, taken in woken:
            if taken or webhook_id not in self._lanes:
                self._lanes[webhook_id] = Lane(webhook_id, company_id, Pace(now), now)
            lane = self._lanes[webhook_id]
            self.wake(lane)
            first = calm or (company_id not in companies and self._rooms.has_nothing(company_id))
            if len(claims) < most and first and not (lane.claiming or lane.leaving):
                companies.add(company_id)
                self._rooms.to_claim.discard(lane)
                if asked := self._ask(lane, now, CALM_SIZE if calm else FIRST_SIZE):
                    claims[webhook_id] = asked
        if claims and self._rooms.in_flight and not calm:
            self._brief_until = now + BRIEF_SECONDS
        return claims

    def enter(self, claims: ClaimBatch) -> list[Claimed]:
        """Take what was claimed; returns what cannot be sent after all, to be given back."""
        self._claiming = False
        for webhook_id in claims.rooms:
            if lane := self._lanes.get(webhook_id):
                lane.claiming = False
                lane.answered = 0
                self._address(lane, claims)
        back = []
        for delivery in claims.claimed:
            lane = self._lanes.get(delivery.webhook_id)
            if lane and lane.webhook_id not in self.silent:
                self._rooms.hold(lane, delivery)
            else:
                back.append(delivery)
        return back

    def let_leave(self, surplus: int, now: float) -> list[Claimed]:
        """Choose lanes for another loop; returns what is claimed of them, to be given back."""
        if surplus <= len(self._leaving):
            return []
        back = []
        # Those that are free soonest. One that fails is being probed, at a pace of its own.
        for lane in sorted(self._lanes.values(), key=lambda lane: (lane.failing, lane.in_flight)):
            if len(self._leaving) >= min(surplus, MOST_LEAVING):
                break
            if not lane.leaving:
                lane.leaving = True
                self._leaving[lane] = now + LEAVE_SECONDS
                self._rooms.to_claim.discard(lane)
                back += self.drop(lane)
        return back

    def give_away(self, turn: Turn, now: float) -> None:
        """Give to another loop what is free now; what takes too long stays."""
        for lane, until in list(self._leaving.items()):
            if self._lanes.get(lane.webhook_id) is not lane:
                del self._leaving[lane]
            elif not (lane.in_flight or lane.claiming or lane.held):
                del self._leaving[lane], self._lanes[lane.webhook_id]
                turn.to_transfer.append(lane.webhook_id)
            elif now > until:
                del self._leaving[lane]
                lane.leaving = False
                if lane.due:
                    self.wake(lane)

    def wake(self, lane: Lane) -> None:
        """Note that a claim may find something, unless the lane is no longer this loop's."""
        if self._lanes.get(lane.webhook_id) is not lane:
            return
        lane.due = True
        if not (lane.claiming or lane.leaving):
            self._rooms.to_claim.add(lane)

    def note(self, results: Iterable[AttemptResult]) -> set[int]:
        """Note how the webhooks do now; returns those that were failing before."""
        failing = set()
        for result in results:
            lane = self._lanes.get(result.webhook_id)
            if lane is None or lane.failing:
                failing.add(result.webhook_id)
            if lane:
                lane.failing = result.state != DELIVERED
        return failing

    def release_idle(self, turn: Turn, now: float) -> None:
        """Let go of lanes with nothing to do, and of some of those that are too many."""
        for lane in list(self._lanes.values()):
            if not lane.busy and now - lane.idle_since > KEEP_SECONDS:
                self._release(lane, turn)
        if (too_many := len(self._lanes) - MOST_LANES) > 0:
            free = (each for each in self._lanes.values() if not (each.in_flight or each.claiming))
            for lane in [each for each in free if not each.held][:too_many]:
                self._release(lane, turn)

    def release_free(self, turn: Turn) -> Turn:
        """Let go, at a stop, of all that is not in flight; what the turn records goes later."""
        recorded = {each.webhook_id for each in turn.results}
        for lane in list(self._lanes.values()):
            if not (lane.in_flight or lane.claiming or lane.webhook_id in recorded):
                lane.due = True
                self._release(lane, turn)
        return turn

    def drop_all(self) -> list[Claimed]:
        """What is claimed and not started, of all lanes."""
        return [each for lane in self._lanes.values() if lane.held for each in self.drop(lane)]

    def drop(self, lane: Lane) -> list[Claimed]:
        """What is claimed and not started, to be given back and claimed again."""
        dropped = self._rooms.drop(lane)
        if dropped:
            self.wake(lane)
        return dropped

    def belong_to(self, loop_id: str | None) -> None:
        """Forget all lanes of another lease than this loop has now: they are somebody else's."""
        if loop_id == self.loop_id:
            return
        self.loop_id = loop_id
        for lane in self._lanes.values():
            self._rooms.drop(lane)
            self._rooms.to_claim.discard(lane)
            lane.due = False
        self._lanes.clear()
        self._leaving.clear()

    def _address(self, lane: Lane, claims: ClaimBatch) -> None:
        address = claims.addresses.get(lane.webhook_id)
        if address is None:
            # Paused, deleted or resting: what ends that will wake it up.
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
        self._rooms.to_claim.discard(lane)
        turn.released.append(lane.webhook_id)
        if lane.due:
            turn.unfinished.append(lane.webhook_id)
