"""What the database hands to the loop: deliveries on loan, and where they go. Pure."""

from datetime import datetime
from typing import NamedTuple

Headers = list[tuple[str, str]]


class Claimed(NamedTuple):
    """A delivery on loan. `id`, `claim` and `fact_id` are UUIDs as text: only ever passed on.

    `subject_id`: the shipment or ticket it is about. `crashes`: loops in a row that were lost with
    it. `pulled`: it is sent before its own next try.
    `claimed_at` is of this process's monotonic clock. `request_id` and `traceparent` say what has
    caused the event.
    """

    id: str
    webhook_id: int
    subject_id: int | None
    attempts: int
    step: int
    crashes: int
    pulled: bool
    event_id: int | None
    type_id: int
    body: bytes
    fact_id: str
    sequence: int
    request_id: str | None
    traceparent: str | None
    claim: str
    claimed_at: float


class Address(NamedTuple):
    """Where a webhook's deliveries go now, and what signs them now; or why they cannot.

    `headers` are those that every delivery carries, signed or not. `host` names the server, with
    its port. `failing`: the last attempt failed. `probe`: it comes from a rest, so one attempt goes
    ahead. `max_in_flight`: never more requests to it at once; None: no such wish.
    `catch_up_before`: retries of what was stored before then are to be pulled forward. `standard`:
    it is also signed as Standard Webhooks has it.
    """

    company_id: int
    url: str
    host: str
    headers: Headers
    secret: str | None
    failing: bool
    probe: bool
    max_in_flight: int | None
    catch_up_before: datetime | None
    trouble: str = ""
    standard: bool = False
