"""X-Webhook-Signature (interface, Authentication 3; decisions W9 and W10). Pure."""

import hmac


def sign(secret: str, timestamp_ms: int, event: str, body: bytes) -> str:
    """`v1=` and the lowercase hex HMAC-SHA256 of `timestamp.event.body`.

    The key is the secret's text as UTF-8, not the bytes its hex digits stand for.
    """
    signed = f"{timestamp_ms}.{event}.".encode() + body
    return f"v1={hmac.digest(secret.encode(), signed, 'sha256').hex()}"
