"""Whose request a thread takes next (decision page web-companies-take-turns)."""

from collections import Counter, deque
from collections.abc import Callable, Iterable

from django.http import parse_cookie

Work = Callable[[], None]


class FairQueue:
    """Requests wait in a row for each who asks, and the rows take turns.

    `start` gives work to a thread. At most `threads` have some at once, and of one row at most
    `share`, also while nobody else asks: who comes next finds a thread that is free. All of it
    happens in the event loop.
    """

    def __init__(self, threads: int, share: int, start: Callable[[Work], object]) -> None:
        self.free = threads
        self.share = share
        self.start = start
        self.at_work: Counter[str] = Counter()
        # The rows that may have a thread, in the order of their turns, and those that have theirs.
        self.ready: dict[str, deque[Work]] = {}
        self.full: dict[str, deque[Work]] = {}

    def come(self, who: str, work: Work) -> None:
        rows = self.full if self.at_work[who] >= self.share else self.ready
        rows.setdefault(who, deque()).append(work)
        self.go_on()

    def done(self, who: str) -> None:
        """A work that was started for this row is over."""
        self.free += 1
        self.at_work[who] -= 1
        if not self.at_work[who]:
            del self.at_work[who]
        if (row := self.full.pop(who, None)) is not None:
            self.ready[who] = row
        self.go_on()

    def go_on(self) -> None:
        while self.free and self.ready:
            who = next(iter(self.ready))
            row = self.ready.pop(who)
            self.free -= 1
            self.at_work[who] += 1
            work = row.popleft()
            if row:
                (self.full if self.at_work[who] >= self.share else self.ready)[who] = row
            self.start(work)


def who_asks(headers: Iterable[tuple[str, str]], session_cookie: str, address: str | None) -> str:
    """The token that is shown, else the session, else the address.

    `address` is None for a trusted proxy, which names its client last. Nobody has looked yet
    whether token and session are real: a stranger who makes up a new one each time has many rows,
    in each of which one request waits that is refused at once.
    """
    shown = dict(headers)
    if token := shown.get("AUTHORIZATION"):
        return f"token {token}"
    if session := parse_cookie(shown.get("COOKIE", "")).get(session_cookie):
        return f"session {session}"
    if address is None:
        address = shown.get("X-FORWARDED-FOR", "").rpartition(",")[2].strip()
    return f"address {address}"
