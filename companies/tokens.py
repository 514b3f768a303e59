"""API tokens: creation, prefixes and digests. No database here (decision E9)."""

import hashlib
import secrets
from datetime import datetime

PREFIX_LENGTH = 13
# Prefix of the platform's tokens, which open its feed and nothing else (decision N25).
FEED = "feed_"
LONGEST_TOKEN = 200


def make_token(environment: str) -> str:
    """Create a token: `test_` or `live_`, then 256 random bits."""
    kind = "live" if environment == "production" else "test"
    return f"{kind}_{secrets.token_urlsafe(32)}"


def make_platform_token(environment: str) -> str:
    """Create a token of the platform, which begins with `feed_`."""
    return f"{FEED}{make_token(environment)}"


def bearer_token(authorization: str) -> str:
    """Return the token of an Authorization header, cut to LONGEST_TOKEN; empty if it has none."""
    scheme, _, token = authorization.partition(" ")
    return token[:LONGEST_TOKEN] if scheme.lower() == "bearer" else ""


def token_digest(token: str) -> str:
    """Return the digest to store. A plain hash is enough: 256 random bits cannot be guessed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def token_prefix(token: str) -> str:
    """Return the part that is shown, so that operators can tell tokens apart."""
    return token[: PREFIX_LENGTH + (len(FEED) if token.startswith(FEED) else 0)]


def token_state(revoked_at: datetime | None, expires_at: datetime | None, now: datetime) -> str:
    """Return `live`, `expired` or `revoked`."""
    if revoked_at is not None:
        return "revoked"
    return "expired" if expires_at is not None and expires_at <= now else "live"
