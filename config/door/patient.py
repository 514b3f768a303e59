"""Open pages wait for news without a thread (decision page desk-open-pages-wait-for-news).

A request that may wait is kept by the event loop until there is news for it, or its time is over;
then a thread answers it as any other.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from config.door.connections import Connection

LOOK_EVERY_SECONDS = 0.5
# Less than proxies wait for an answer.
AT_MOST_SECONDS = 25.0
MOST_WAITING = 5_000


class Waiting(NamedTuple):
    connection: Connection
    request: Any
    until: float


class PatientRequests:
    """Those that wait. All of it happens in the event loop, but for what `start` is given.

    `may_wait` says which requests may, and must not wait itself. `start` has a thread find out
    for which there is news, and then calls `looked`. `answer` is called with each once.
    """

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(
        self,
        may_wait: Callable[[Any], bool],
        start: Callable[[Sequence[Waiting]], object],
        answer: Callable[[Connection, Any], None],
    ) -> None:
        self.may_wait = may_wait
        self.start = start
        self.answer = answer
        self.waiting: list[Waiting] = []
        self.looking = False
        self.next_look = 0.0

    def take(self, connection: Connection, request: Any) -> bool:
        """Keep a request that may wait; False for any other."""
        if len(self.waiting) >= MOST_WAITING or not self.may_wait(request):
            return False
        self.waiting.append(Waiting(connection, request, self.clock() + AT_MOST_SECONDS))
        return True

    def turn(self) -> None:
        """Answer those whose time is over, and have somebody look for news of the others."""
        now = self.clock()
        if not self.waiting or now < self.next_look:
            return
        self.next_look = now + LOOK_EVERY_SECONDS
        self.let_go([one for one in self.waiting if one.until <= now])
        if self.waiting and not self.looking:
            self.looking = True
            self.start(tuple(self.waiting))

    def looked(self, with_news: Sequence[Waiting]) -> None:
        self.looking = False
        self.let_go(with_news)

    def let_go(self, those: Sequence[Waiting]) -> None:
        for one in those:
            if one in self.waiting:
                self.waiting.remove(one)
                self.answer(one.connection, one.request)

    def stop(self) -> None:
        """Answer all that wait."""
        self.let_go(list(self.waiting))
