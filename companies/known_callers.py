"""Callers that this process has authenticated lately: they take turns under their own name.

Being known grants no access. Why: decision page web-companies-take-turns.
"""

from collections.abc import Callable
from time import monotonic

from companies.tokens import token_digest
from core.data.recent import Recent

# Longer than the pauses of most clients that poll.
KNOWN_SECONDS = 300.0
MOST_KNOWN = 10_000


class KnownCallers:
    """Owners of tokens and sessions, by the digest of what they send.

    Threads write, the event loop reads. The caller that was added first is dropped first.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.owners = Recent[str](MOST_KNOWN, clock)

    def remember(self, kind: str, secret: str, owner: str) -> None:
        """Record that `secret`, a token for instance, was found to be the owner's."""
        self.owners.keep(digest_of(kind, secret), owner, KNOWN_SECONDS)

    def forget(self, kind: str, secret: str) -> None:
        """Drop a secret that is no longer valid."""
        self.owners.forget(digest_of(kind, secret))

    def owner(self, kind: str, secret: str) -> str | None:
        """Return the owner's name, such as `company 12`, or None if nobody has shown it lately."""
        return self.owners.find(digest_of(kind, secret))


def digest_of(kind: str, secret: str) -> str:
    return token_digest(f"{kind} {secret}")


CALLERS = KnownCallers()
