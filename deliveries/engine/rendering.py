"""HTTP request of a claimed delivery (interface, Delivery headers)."""

import logging
from collections.abc import Hashable
from datetime import datetime
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from django.conf import settings

from core.data import encryption
from core.data.encryption import UnreadableSecret
from deliveries import statements
from deliveries.engine.loans import Address, Claimed, Headers
from deliveries.engine.signing import sign, sign_standard, timestamp_ms
from deliveries.http.answers import Failure, Reply
from deliveries.http.transport import Request
from webhooks.event_types import registry

logger = logging.getLogger(__name__)

API_VERSION = "2025-09-01"

# Decryption costs more than a whole delivery, so each ciphertext is decrypted once per process.
decrypt = lru_cache(maxsize=20_000)(encryption.decrypt)

SIGNED_WITH = "CASE WHEN next_secret_at <= statement_timestamp() THEN next_secret ELSE secret END"
# Addresses of webhooks that may be sent to now.
ADDRESSES = f"""
SELECT webhook.id, webhook.company_id, webhook.url, webhook.auth_token,
  {SIGNED_WITH},
  coalesce(health.failures > 0, false), coalesce(health.rests > 0, false),
  webhook.max_in_flight, health.catch_up_before, webhook.standard_headers
FROM webhooks_webhook AS webhook LEFT JOIN LATERAL (
  SELECT failures, rests, resting_until, catch_up_before FROM deliveries_health
  WHERE webhook_id = webhook.id LIMIT 1) AS health ON true
WHERE webhook.id = ANY(%s) AND webhook.url <> ''
  AND webhook.active AND num_nulls(webhook.deleted_at) = 1
  AND (SELECT active FROM companies_company WHERE id = webhook.company_id)
  AND coalesce(health.resting_until <= statement_timestamp(), true)
"""  # noqa: S608 - of our own


class ToSign(Protocol):
    """Something to sign: a claimed delivery, or an event that a company fetches."""

    @property
    def id(self) -> str: ...
    @property
    def fact_id(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def body(self) -> bytes: ...


class CannotRender(Exception):
    """The request of a delivery cannot be built, by a fault of ours. The message says why."""


def addresses(webhook_ids: list[int]) -> dict[int, Address]:
    """Return the addresses of the webhooks that may be sent to now.

    These are active, not deleted, not resting, and of an active company. Called before each claim,
    so that a new URL, token or secret counts from the next attempt on.
    """
    with statements.cursor() as cursor:
        cursor.execute(ADDRESSES, [webhook_ids])
        return {id: address(*columns) for id, *columns in cursor.fetchall()}


def address(
    company_id: int,
    url: str,
    auth_token: str | None,
    secret: str | None,
    failing: bool,
    probe: bool,
    max_in_flight: int | None,
    catch_up_before: datetime | None,
    standard: bool,
) -> Address:
    headers: Headers = []
    opened_secret, trouble = None, ""
    try:
        headers = plain_headers(auth_token and decrypt(auth_token))
        opened_secret = secret and decrypt(secret)
    except UnreadableSecret as error:
        # A missing key of one webhook must not stop the deliveries of the others.
        trouble = str(error)
    return Address(
        company_id,
        url,
        host_of(url),
        headers,
        opened_secret,
        failing,
        probe,
        max_in_flight,
        catch_up_before,
        trouble,
        standard,
    )


@lru_cache(maxsize=20_000)
def host_of(url: str) -> str:
    """Return the host of a URL, with its port if there is one."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def render(delivery: Claimed, address: Address, at: datetime, key: Hashable = None) -> Request:
    """Build the request of an attempt that begins at `at`. Raises CannotRender.

    Signature and timestamp are new with each attempt, id and body the same. `key` is returned with
    the reply.
    """
    if address.trouble:
        raise CannotRender(address.trouble)
    event_type = registry.get(delivery.type_id)
    if event_type is None:
        # We cannot know if it must be signed: better late than unsigned.
        raise CannotRender(f"No event type {delivery.type_id} is registered.")
    headers = address.headers
    if event_type.signed and address.secret:
        secret, standard = address.secret, address.standard
        signed = signed_headers(delivery, event_type.name, secret, at, standard=standard)
        headers = [*headers, *signed]
    return Request(address.url, delivery.body, headers, key)


def signed_headers(
    delivery: ToSign, event: str, secret: str, at: datetime, *, standard: bool
) -> Headers:
    """Return the headers that only signed types have, and those of Standard Webhooks if asked."""
    timestamp = timestamp_ms(at)
    headers = [
        ("X-Webhook-Event", event),
        ("X-Webhook-Version", API_VERSION),
        ("X-Webhook-Id", delivery.id),
        ("X-Webhook-Event-Id", delivery.fact_id),
        ("X-Webhook-Sequence", str(delivery.sequence)),
        ("X-Webhook-Timestamp", str(timestamp)),
        ("X-Webhook-Signature", sign(secret, timestamp, event, delivery.body)),
    ]
    return headers + standard_headers(delivery, secret, at) if standard else headers


def standard_headers(delivery: ToSign, secret: str, at: datetime) -> Headers:
    """Return the headers of Standard Webhooks, for webhooks that request them."""
    timestamp = int(at.timestamp())
    return [
        ("webhook-id", delivery.id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", sign_standard(secret, delivery.id, timestamp, delivery.body)),
    ]


def plain_headers(auth_token: str | None) -> Headers:
    """Return the headers of every delivery, signed or not."""
    headers = [
        ("Content-Type", "application/json"),
        ("User-Agent", settings.DELIVERY_USER_AGENT),
    ]
    if auth_token:
        headers.append(("Authorization", f"Bearer {auth_token}"))
    return headers


def write_request(
    delivery: Claimed, address: Address, at: datetime, key: Hashable
) -> Request | Reply:
    """Build the request; if that fails, by a fault of ours, return an internal error as reply."""
    try:
        return render(delivery, address, at, key)
    except Exception as error:  # any failure: one delivery must not stop the others
        if not isinstance(error, CannotRender):
            logger.exception("delivery %s cannot be sent", delivery.id)
        return Reply(
            key=key,
            status=None,
            error=Failure.INTERNAL,
            detail=str(error),
            answer=b"",
            duration_ms=0,
            retry_after=None,
        )
