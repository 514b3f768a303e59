"""Values that the database hands to the loop: claimed deliveries, and addresses. Pure."""

from datetime import datetime
from typing import NamedTuple

Headers = list[tuple[str, str]]


class Claimed(NamedTuple):
    """A claimed delivery. `id`, `claim` and `fact_id` are UUIDs as text, since only passed on.

    `subject_id`: its shipment or ticket. `crashes`: number of loops in a row that were lost with
    it. `pulled`: it is sent before its own next try. `claimed_at`: monotonic time of this process.
    `request_id` and `traceparent`: the request that caused the event.
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
    """Current URL and secret of a webhook, or the `trouble` that prevents sending.

    `headers`: those of every delivery, signed or not. `host`: with its port. `failing`: the last
    attempt failed. `probe`: the webhook was resting, so a single attempt goes first.
    `max_in_flight`: the company's limit of concurrent requests, or None. `catch_up_before`: retries
    of events stored before then are to be pulled forward. `standard`: requests are also signed as
    in Standard Webhooks.
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
