"""Is this webhook ours? One function to copy; Python 3.8 or newer, standard library only."""

import hashlib
import hmac
import time
from typing import Mapping, Optional


def verify(
    secret: str, headers: Mapping[str, str], body: bytes, now_ms: Optional[float] = None
) -> bool:
    """Return True if the request was signed with `secret` within five minutes of now.

    `headers` in any case, `body` the raw bytes. Raises ValueError if the secret is empty.
    """
    if not secret:
        raise ValueError("the secret is empty, so anybody could sign")
    lowered = {name.lower(): value for name, value in headers.items()}
    timestamp = lowered.get("x-webhook-timestamp", "")
    event = lowered.get("x-webhook-event", "")
    signed = f"{timestamp}.{event}.".encode() + body
    expected = "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), lowered.get("x-webhook-signature", "").encode()):
        return False
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    return abs(now_ms - int(timestamp)) <= 5 * 60 * 1000
