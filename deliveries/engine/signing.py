"""Signatures: our own (interface, Authentication 3; decisions W9, W10), Standard Webhooks. Pure."""

import hmac
from base64 import b64encode
from datetime import datetime
from functools import lru_cache


def timestamp_ms(at: datetime) -> int:
    """Return the X-Webhook-Timestamp of an attempt that began at `at`."""
    return int(at.timestamp() * 1000)


def sign(secret: str, timestamp_ms: int, event: str, body: bytes) -> str:
    """Return `v1=` and the lowercase hex HMAC-SHA256 of `timestamp.event.body`.

    The key is the secret's text as UTF-8, not the bytes that its hex digits encode.
    """
    signature = keyed(secret).copy()
    signature.update(f"{timestamp_ms}.{event}.".encode() + body)
    return f"v1={signature.hexdigest()}"


def sign_standard(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """Return `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; same key, time in seconds."""
    signature = keyed(secret).copy()
    signature.update(f"{id}.{timestamp}.".encode() + body)
    return f"v1,{b64encode(signature.digest()).decode()}"


@lru_cache(maxsize=20_000)
def keyed(secret: str) -> hmac.HMAC:
    """Return an HMAC with its key set up, which costs as much as signing with it."""
    return hmac.new(secret.encode(), digestmod="sha256")
