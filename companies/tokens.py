"""API tokens as text: made, recognised, digested. No database here (decision E9)."""

import hashlib
import secrets

PREFIX_LENGTH = 13


def make_token(environment: str) -> str:
    """A new token: 256 random bits behind `test_` or `live_`."""
    kind = "live" if environment == "production" else "test"
    return f"{kind}_{secrets.token_urlsafe(32)}"


def token_digest(token: str) -> str:
    """What is stored. A plain hash is enough: 256 random bits cannot be guessed from it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def token_prefix(token: str) -> str:
    """What may be shown, so that an operator can tell two tokens apart."""
    return token[:PREFIX_LENGTH]
