"""What a loop has on loan: claimed, and neither recorded nor given back."""

from collections.abc import Sequence

from deliveries.catching_up import Walks
from deliveries.engine import claiming, rendering, setting_aside
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.turn import ClaimBatch


class Loans:
    """`ids` are those of the deliveries."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        # One of them that loops before us were lost with.
        self._suspect: str | None = None
        self._walks = Walks()

    def claim(self, claims: ClaimBatch, loop_id: str, held: frozenset[str]) -> None:
        """Claim what the batch asks for, nothing for hosts that are `held`; the batch says what."""
        claims.addresses = find_addresses(list(claims.rooms), held)
        behind = self._catch_up(claims.addresses)
        rooms = {
            webhook_id: 1 if claims.addresses[webhook_id].probe else room
            for webhook_id, room in claims.rooms.items()
            if webhook_id in claims.addresses
        }
        if rooms:
            claims.claimed, claims.more = claiming.claim(loop_id, rooms, suspect=not self._suspect)
            if any(each.crashes >= claiming.SUSPECT_CRASHES for each in claims.claimed):
                claims.claimed, self._suspect = setting_aside.set_crashed_aside(claims.claimed)
            self.ids.update(each.id for each in claims.claimed)
        claims.more |= behind

    def give_back(self, deliveries: Sequence[Claimed]) -> None:
        """They can be claimed again, by anybody."""
        if deliveries:
            claiming.give_back(deliveries)
            self.end({each.id for each in deliveries})

    def end(self, ids: set[str]) -> None:
        """Note what has been recorded or given back."""
        self.ids -= ids
        if self._suspect in ids:
            self._suspect = None

    def _catch_up(self, addresses: dict[int, Address]) -> set[int]:
        """Pull retries forward where that is wanted; returns the webhooks with more of them."""
        wanted = {
            webhook_id: address.catch_up_before
            for webhook_id, address in addresses.items()
            if address.catch_up_before
        }
        return self._walks.go_on(wanted) if wanted else set()


def find_addresses(webhook_ids: list[int], held_hosts: frozenset[str]) -> dict[int, Address]:
    """Those that may be sent to; what we cannot write ourselves waits, and is not claimed.

    So does what is for a host that is held.
    """
    found = rendering.addresses(webhook_ids)
    if held := [id for id, each in found.items() if rendering.is_held(each, held_hosts)]:
        setting_aside.have_wait(held)
        found = {id: each for id, each in found.items() if id not in held}
    unreadable = {id: each.trouble for id, each in found.items() if each.trouble}
    if unreadable:
        setting_aside.hold_back(unreadable)
    return {id: each for id, each in found.items() if id not in unreadable}
