"""What a loop has on loan: claimed, and neither recorded nor given back."""

from collections.abc import Sequence

from deliveries.engine import claiming, holding, lanes, rendering, setting_aside
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.quarantine import Suspects
from deliveries.engine.turn import ClaimBatch
from deliveries.redelivery import Walks
from webhooks.targets import host_in


class Loans:
    """`ids` are those of the deliveries."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._suspects = Suspects()
        self._walks = Walks()

    def claim(
        self,
        claims: ClaimBatch,
        loop_id: str,
        held: frozenset[str],
        known: dict[int, Address] | None = None,
    ) -> None:
        """Claim what the batch asks for, nothing for hosts that are `held`; the batch says what."""
        if known is None or not known.keys() >= claims.rooms.keys():
            known = rendering.addresses(list(claims.rooms))
        known = {id: known[id] for id in claims.rooms if id in known}
        claims.addresses = may_be_sent_to(known, held)
        behind = self._catch_up(claims.addresses)
        rooms = {
            webhook_id: 1 if claims.addresses[webhook_id].probe else room
            for webhook_id, room in claims.rooms.items()
            if webhook_id in claims.addresses
        }
        if rooms:
            claims.claimed, claims.more, suspected = claiming.claim(loop_id, rooms)
            self.ids.update(each.id for each in claims.claimed)
            if suspected:
                suspected_rooms = {id: rooms[id] for id in suspected}
                claims.claimed += self._try_suspects(loop_id, suspected_rooms, claims.addresses)
        claims.more |= behind

    def give_back(self, deliveries: Sequence[Claimed]) -> None:
        """They can be claimed again, by anybody."""
        if deliveries:
            claiming.give_back(deliveries)
            self.end(deliveries[0].claim, {each.id for each in deliveries})

    def end(self, loop_id: str, ids: set[str]) -> None:
        """Note what has been recorded or given back."""
        self.ids -= ids
        self._suspects.end(loop_id, ids)

    def begin_anew(self, loop_id: str) -> None:
        """Give back what may have been claimed by a statement whose answer was lost."""
        lanes.begin_anew(loop_id, self.ids)
        self._suspects.begin_anew(loop_id)

    def _try_suspects(
        self, loop_id: str, rooms: dict[int, int], addresses: dict[int, Address]
    ) -> list[Claimed]:
        # First of receivers that do well: others may have all wait for their time-out.
        well = {id: room for id, room in rooms.items() if not addresses[id].failing}
        tried = self._suspects.claim(loop_id, well or rooms)
        self.ids.update(each.id for each in tried)
        crashed = [each for each in tried if each.crashes >= claiming.MOST_CRASHES]
        for each in crashed:
            setting_aside.set_crashed_aside(each)
        self.end(loop_id, {each.id for each in crashed})
        return [each for each in tried if each not in crashed]

    def _catch_up(self, addresses: dict[int, Address]) -> set[int]:
        """Pull retries forward where that is wanted; returns the webhooks with more of them."""
        wanted = {
            webhook_id: address.catch_up_before
            for webhook_id, address in addresses.items()
            if address.catch_up_before
        }
        return self._walks.go_on(wanted) if wanted else set()


def may_be_sent_to(found: dict[int, Address], held_hosts: frozenset[str]) -> dict[int, Address]:
    """Those that may be sent to; what we cannot write ourselves waits, and is not claimed.

    So does what is for a host that is held. `held_hosts` are those of the last heartbeat.
    """
    hosts = {id: host_in(each.url) for id, each in found.items()} if held_hosts else {}
    if on_held := {id: host for id, host in hosts.items() if host in held_hosts}:
        held = holding.wait_for_hosts(on_held)
        found = {id: each for id, each in found.items() if id not in held}
    unreadable = {id: each.trouble for id, each in found.items() if each.trouble}
    if unreadable:
        setting_aside.hold_back(unreadable)
    return {id: each for id, each in found.items() if id not in unreadable}
