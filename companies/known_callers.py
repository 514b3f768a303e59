"""Callers that this process has authenticated lately: they take turns under their own name.

Being known opens nothing. Why: decision page web-companies-take-turns.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic

from companies.tokens import token_digest

# Longer than the pauses of most clients that poll.
KNOWN_SECONDS = 300.0
MOST_KNOWN = 10_000


class KnownCallers:
    """Owners of tokens and sessions, by the digest of what they send.

    Threads remember, the event loop asks. The caller that was seen first is forgotten first.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.lock = Lock()
        self.owners: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def remember(self, kind: str, secret: str, owner: str) -> None:
        """Record that `secret`, a token for instance, was found to be the owner's."""
        mark = digest_of(kind, secret)
        with self.lock:
            self.owners[mark] = (owner, self.clock() + KNOWN_SECONDS)
            self.owners.move_to_end(mark)
            while len(self.owners) > MOST_KNOWN:
                self.owners.popitem(last=False)

    def forget(self, kind: str, secret: str) -> None:
        """Drop a secret that opens nothing any more."""
        with self.lock:
            self.owners.pop(digest_of(kind, secret), None)

    def owner(self, kind: str, secret: str) -> str | None:
        """Return the owner's name, such as `company 12`, or None if nobody has shown it lately."""
        found = self.owners.get(digest_of(kind, secret))
        return found[0] if found and found[1] > self.clock() else None


def digest_of(kind: str, secret: str) -> str:
    return token_digest(f"{kind} {secret}")


CALLERS = KnownCallers()
