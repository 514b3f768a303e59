"""Makes API tokens, and their prefixes and digests. No database here (decision E9)."""

import hashlib
import secrets

PREFIX_LENGTH = 13


def make_token(environment: str) -> str:
    """A new token: `test_` or `live_`, then 256 random bits."""
    kind = "live" if environment == "production" else "test"
    return f"{kind}_{secrets.token_urlsafe(32)}"


def token_digest(token: str) -> str:
    """The digest to store. A plain hash is enough: 256 random bits cannot be guessed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def token_prefix(token: str) -> str:
    """The part that is shown, so that an operator can tell tokens apart."""
    return token[:PREFIX_LENGTH]
