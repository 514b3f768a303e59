"""Is this webhook ours? One function to copy; Python 3.8 or newer, standard library only."""

import hashlib
import hmac
import time
from typing import Mapping, Optional


def verify(
    secret: str, headers: Mapping[str, str], body: bytes, now_ms: Optional[float] = None
) -> bool:
    """True if the request was signed with `secret` within five minutes of now.

    `headers` in any case, `body` the bytes as they came. Raises ValueError if the secret is empty.
    """
    if not secret:
        raise ValueError("the secret is empty, so anybody could sign")
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = given.get("x-webhook-timestamp", "")
    event = given.get("x-webhook-event", "")
    signed = f"{timestamp}.{event}.".encode() + body
    expected = "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), given.get("x-webhook-signature", "").encode()):
        return False
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    return abs(now_ms - int(timestamp)) <= 5 * 60 * 1000
