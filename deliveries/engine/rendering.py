"""A claimed delivery as the request that its receiver gets (interface, Delivery headers)."""

from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from deliveries import statements
from deliveries.engine.loans import Claimed
from deliveries.engine.signing import sign, timestamp_ms
from deliveries.http.transport import Request
from webhooks import encryption
from webhooks.event_types import registry

API_VERSION = "2025-09-01"

Headers = list[tuple[str, str]]

# Opening a secret costs more than a whole delivery: each ciphertext is opened once per process.
opened = lru_cache(maxsize=20_000)(encryption.decrypt)

ADDRESSES = """
SELECT id, url, auth_token,
  CASE WHEN next_secret_at <= statement_timestamp() THEN next_secret ELSE secret END
FROM webhooks_webhook WHERE id = ANY(%s)
"""


class CannotRender(Exception):
    """A delivery that cannot even be written: our own fault. The message says why."""


class Address(NamedTuple):
    """Where a webhook's deliveries go now, and what signs them now; or why they cannot.

    `headers` are those that every delivery carries, signed or not.
    """

    url: str
    headers: Headers
    secret: str | None
    trouble: str = ""


class Sent(NamedTuple):
    """What comes back with the reply. `at`: the instant that it is signed with."""

    delivery: Claimed
    url: str
    at: datetime


def addresses(webhook_ids: list[int]) -> dict[int, Address]:
    """Read at each claim, so that a change of URL, token or secret counts from the next attempt."""
    with statements.cursor() as cursor:
        cursor.execute(ADDRESSES, [webhook_ids])
        return {id: address(*columns) for id, *columns in cursor.fetchall()}


def address(url: str, auth_token: str | None, secret: str | None) -> Address:
    try:
        headers = plain_headers(auth_token and opened(auth_token))
        return Address(url, headers, secret and opened(secret))
    except ImproperlyConfigured as error:
        # A key that is missing for one webhook must not stop the deliveries of the others.
        return Address(url, [], None, str(error))


def render(delivery: Claimed, address: Address, now: datetime) -> Request:
    """The signature and its timestamp are of this attempt, the id and the body of every one.

    Raises CannotRender.
    """
    if address.trouble:
        raise CannotRender(address.trouble)
    event_type = registry.get(delivery.type_id)
    if event_type is None:
        # Whether it is to be signed is not known: better late than unsigned.
        raise CannotRender(f"No event type {delivery.type_id} is registered.")
    headers = address.headers
    if event_type.signed and address.secret:
        timestamp = timestamp_ms(now)
        headers = [
            *headers,
            ("X-Webhook-Event", event_type.name),
            ("X-Webhook-Version", API_VERSION),
            ("X-Webhook-Id", delivery.id),
            ("X-Webhook-Timestamp", str(timestamp)),
            (
                "X-Webhook-Signature",
                sign(address.secret, timestamp, event_type.name, delivery.body),
            ),
        ]
    return Request(address.url, delivery.body, headers, Sent(delivery, address.url, now))


def plain_headers(auth_token: str | None) -> Headers:
    """What every delivery carries, signed or not."""
    headers = [
        ("Content-Type", "application/json"),
        ("User-Agent", settings.DELIVERY_USER_AGENT),
    ]
    if auth_token:
        headers.append(("Authorization", f"Bearer {auth_token}"))
    return headers
