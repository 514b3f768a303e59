"""Makes API tokens, and their prefixes and digests. No database here (decision E9)."""

import hashlib
import secrets
from datetime import datetime

PREFIX_LENGTH = 13
# What the platform's tokens begin with: they open its feed and nothing else (decision N25).
FEED = "feed_"
LONGEST_TOKEN = 200


def make_token(environment: str) -> str:
    """A new token: `test_` or `live_`, then 256 random bits."""
    kind = "live" if environment == "production" else "test"
    return f"{kind}_{secrets.token_urlsafe(32)}"


def make_platform_token(environment: str) -> str:
    """The same for the platform, with `feed_` in front."""
    return f"{FEED}{make_token(environment)}"


def shown_token(authorization: str) -> str:
    """The token of an Authorization header, cut where no real one goes on; empty if it has none."""
    scheme, _, token = authorization.partition(" ")
    return token[:LONGEST_TOKEN] if scheme.lower() == "bearer" else ""


def token_digest(token: str) -> str:
    """The digest to store. A plain hash is enough: 256 random bits cannot be guessed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def token_prefix(token: str) -> str:
    """The part that is shown, so that an operator can tell tokens apart."""
    return token[: PREFIX_LENGTH + (len(FEED) if token.startswith(FEED) else 0)]


def token_state(revoked_at: datetime | None, expires_at: datetime | None, now: datetime) -> str:
    """`live`, `expired` or `revoked`."""
    if revoked_at is not None:
        return "revoked"
    return "expired" if expires_at is not None and expires_at <= now else "live"
