"""What claiming hands to the loop: webhooks that may be sent to, and deliveries on loan. Pure."""

from typing import NamedTuple


class Lane(NamedTuple):
    """A webhook with deliveries waiting, that may be sent to now.

    `failing`: its last attempt failed. `probe`: it comes from a rest, one attempt goes ahead.
    """

    webhook_id: int
    failing: bool
    probe: bool


class Claimed(NamedTuple):
    """A delivery on loan. `id` and `claim` are UUIDs as text: they are only ever passed on."""

    id: str
    webhook_id: int
    shipment_id: int | None
    attempts: int
    step: int
    type_id: int
    body: bytes
    claim: str
    claimed_at: float
