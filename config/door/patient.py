"""Long polling of open pages without a thread (decision page desk-open-pages-wait-for-news).

The event loop keeps a request that may wait until there is news for it or its time is over; then a
thread answers it like any other.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from config.door.connections import Connection

LOOK_EVERY_SECONDS = 0.5
# Proxies wait longer for an answer.
AT_MOST_SECONDS = 25.0
MOST_WAITING = 5_000


class Waiting(NamedTuple):
    connection: Connection
    request: Any
    until: float


class PatientRequests:
    """Requests that wait for news. Everything runs in the event loop but the look for news.

    `may_wait` tells if a request may wait, and must not block. `start` has a thread find the
    requests with news, which then calls `finish_look`. `answer` is called once for each request.
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
        """Keep a request if it may wait; return False otherwise."""
        if len(self.waiting) >= MOST_WAITING or not self.may_wait(request):
            return False
        self.waiting.append(Waiting(connection, request, self.clock() + AT_MOST_SECONDS))
        return True

    def turn(self) -> None:
        """Answer requests whose time is over, and start a look for news of the others."""
        now = self.clock()
        if not self.waiting or now < self.next_look:
            return
        self.next_look = now + LOOK_EVERY_SECONDS
        self.answer_all([one for one in self.waiting if one.until <= now])
        if self.waiting and not self.looking:
            self.looking = True
            self.start(tuple(self.waiting))

    def finish_look(self, with_news: Sequence[Waiting]) -> None:
        self.looking = False
        self.answer_all(with_news)

    def answer_all(self, requests: Sequence[Waiting]) -> None:
        for one in requests:
            if one in self.waiting:
                self.waiting.remove(one)
                self.answer(one.connection, one.request)

    def stop(self) -> None:
        """Answer all waiting requests."""
        self.answer_all(list(self.waiting))
