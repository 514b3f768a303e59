"""Deliveries that a loop has on loan: claimed, and neither recorded nor given back."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice

from deliveries.engine import (
    claiming,
    clock,
    holding,
    lanes,
    rendering,
    setting_aside,
    sharing,
)
from deliveries.engine.fronts import Fronts
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.quarantine import Suspects
from deliveries.engine.turn import ClaimBatch
from deliveries.redelivery import Walks
from webhooks.targets import host_in

Addresses = dict[int, Address]
NOTES = 3  # Times that the fronts are noted while a claim lasts.
MOST_STORED = 1_000  # Storing more would hold up a turn.


class Loans:
    """Loans of one loop. `ids`: ids of the deliveries."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._prolonged: set[str] = set()
        self._fronts = Fronts()
        self._notes: deque[dict[int, datetime]] = deque(maxlen=NOTES + 1)
        self._stored: set[int] = set()
        self._suspects = Suspects()
        self._walks = Walks()

    def claim(
        self,
        claims: ClaimBatch,
        loop_id: str,
        held_hosts: frozenset[str],
        addresses: Addresses | None = None,
    ) -> None:
        """Carry out a batch of claims, except for held hosts, and store its outcome in it."""
        if addresses is None or not addresses.keys() >= claims.rooms.keys():
            addresses = rendering.addresses(list(claims.rooms))
        addresses = {id: addresses[id] for id in claims.rooms if id in addresses}
        claims.addresses = sendable_addresses(addresses, held_hosts)
        catching_up = self._catch_up(claims.addresses)
        rooms = {
            webhook_id: 1 if claims.addresses[webhook_id].probe else room
            for webhook_id, room in claims.rooms.items()
            if webhook_id in claims.addresses
        }
        if rooms:
            suspected = self._claim_from_fronts(claims, loop_id, rooms)
            if suspected:
                suspected_rooms = {id: rooms[id] for id in suspected}
                claims.claimed += self._try_suspects(loop_id, suspected_rooms, claims.addresses)
            # This comes last: after an error above, all that was claimed has to be recovered.
            self.ids.update(each.id for each in claims.claimed)
        claims.more |= catching_up

    def notice(self, loop_id: str, heard: Mapping[int, datetime], new: Collection[int]) -> None:
        """Note of webhooks from when on something has appeared: the times of their wake-ups.

        `new`: those that this loop has just taken; others may have come from another loop.
        """
        self._fronts.begin(new)
        if unknown := self._fronts.unknown(heard):
            self._fronts.inherit(sharing.inherited(loop_id, unknown), clock.monotonic())
        self._fronts.lower(heard.items())

    def long_fronts(self) -> dict[int, datetime]:
        """Return the fronts of the webhooks for which a look from the beginning takes long."""
        return self._fronts.long()

    def note_fronts(self, loop_id: str) -> None:
        """Store the long fronts with their lanes, for whoever asks what has been due longest.

        To be called a NOTES-th of a claim's duration apart: the fronts of before the claims that
        have not ended are stored, as these were due before the latest ones.
        """
        self._notes.append(dict(islice(self._fronts.long().items(), MOST_STORED)))
        lasting = set.intersection(*(set(each) for each in self._notes))
        if len(self._notes) <= NOTES:
            lasting = set()
        fronts = {id: min(each[id] for each in self._notes) for id in lasting}
        if changes := {id: fronts.get(id) for id in self._stored | lasting}:
            lanes.store_fronts(loop_id, changes)
        self._stored = lasting

    def forget(self, webhook_ids: Iterable[int]) -> None:
        """Forget webhooks that this loop no longer has."""
        self._fronts.forget(webhook_ids)

    def look_behind(self) -> None:
        """Look for what claims from the fronts have missed, where one of everything takes long."""
        self._fronts.walk(claiming.find_behind)

    def give_back(self, deliveries: Sequence[Claimed]) -> None:
        """Give deliveries back, so that any loop can claim them."""
        if deliveries:
            self._fronts.lower(claiming.give_back(deliveries))
            self.end(deliveries[0].claim, {each.id for each in deliveries})

    def end(self, loop_id: str, ids: set[str]) -> None:
        """Forget deliveries that were recorded or given back."""
        self.ids -= ids
        self._prolonged -= ids
        self._suspects.end(loop_id, ids)

    def recover(self, loop_id: str) -> None:
        """Give back deliveries that a statement may have claimed whose answer was lost."""
        lanes.recover(loop_id, self.ids)
        self._fronts.forget_all()
        self._suspects.recover(loop_id, self.ids)

    def _claim_from_fronts(
        self, claims: ClaimBatch, loop_id: str, rooms: dict[int, int]
    ) -> set[int]:
        """Claim, store the outcome in `claims`, and return the webhooks with suspects."""
        began = clock.monotonic()
        starts = self._fronts.starts(rooms, began)
        claimed, claims.more, suspected, since = claiming.claim(loop_id, rooms, since=starts)
        claims.claimed = self._unsent(claimed)
        now = clock.monotonic()
        claims.keep = self._fronts.move(starts, since, now - began, now)
        return suspected

    def _unsent(self, claimed: Sequence[Claimed]) -> list[Claimed]:
        """Return claimed deliveries without those on loan already, which have been prolonged by it.

        Claims end while the database is away; the request was sent, and its result will be
        recorded. The second time it is returned: the loop may have lost sight of the delivery.
        """
        prolonged = self.ids.intersection(each.id for each in claimed) - self._prolonged
        self._prolonged |= prolonged
        return [each for each in claimed if each.id not in prolonged]

    def _try_suspects(
        self, loop_id: str, rooms: dict[int, int], addresses: Addresses
    ) -> list[Claimed]:
        # Healthy receivers go first: the whole batch would wait for the time-out of a failing one.
        healthy = {id: room for id, room in rooms.items() if not addresses[id].failing}
        tried = self._suspects.claim(loop_id, healthy or rooms)
        crashed = [each for each in tried if each.crashes >= claiming.MOST_CRASHES]
        for each in crashed:
            setting_aside.set_crashed_aside(each)
        self.end(loop_id, {each.id for each in crashed})
        return [each for each in tried if each not in crashed]

    def _catch_up(self, addresses: Addresses) -> set[int]:
        """Pull retries of recovered webhooks forward; returns the webhooks that have more."""
        wanted = {
            webhook_id: address.catch_up_before
            for webhook_id, address in addresses.items()
            if address.catch_up_before
        }
        return self._walks.go_on(wanted) if wanted else set()


def sendable_addresses(addresses: Addresses, held_hosts: frozenset[str]) -> Addresses:
    """Return the addresses that can be sent to, and postpone the other webhooks.

    These are on hosts that were held at the last heartbeat, or have secrets that we cannot read.
    """
    hosts = {id: host_in(each.url) for id, each in addresses.items()} if held_hosts else {}
    if on_held := {id: host for id, host in hosts.items() if host in held_hosts}:
        waiting = holding.wait_for_hosts(on_held)
        addresses = {id: each for id, each in addresses.items() if id not in waiting}
    unreadable = {id: each.trouble for id, each in addresses.items() if each.trouble}
    if unreadable:
        setting_aside.hold_back(unreadable)
    return {id: each for id, each in addresses.items() if id not in unreadable}
