"""Behaviour of a receiver, chosen by the path of the request. No Django.

/silent/…                  no answer, ever
/fall/…                    200, until the receiver is told to fall silent
/slow/SECONDS/…            200 after SECONDS
/small/WORKERS/SECONDS/…   200 by a server with that many workers, each busy with a request for
                           SECONDS; requests that find no free worker wait in a queue
/reset/…                   the connection is reset
/redirect/…                302
anything else              200 at once
"""

import heapq
import math
from collections.abc import Callable
from typing import NamedTuple

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
ELSEWHERE = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
RESET = b""


class Reaction(NamedTuple):
    """Response and its time on the monotonic clock; `math.inf` is never."""

    at: float
    answer: bytes


class Manners:
    def __init__(self) -> None:
        self.silent = False
        # Heap of the times at which each worker of a small server is free again.
        self.workers: dict[bytes, list[float]] = {}

    def react(self, request: bytes, now: float) -> Reaction:
        path = request[: request.find(b" HTTP/")].partition(b" ")[2]
        kind, _, rest = path[1:].partition(b"/")
        reaction = KINDS.get(kind)
        return reaction(self, rest, now) if reaction else Reaction(now, OK)

    def never(self, _: bytes, __: float) -> Reaction:
        return Reaction(math.inf, OK)

    def fall(self, _: bytes, now: float) -> Reaction:
        return Reaction(math.inf if self.silent else now, OK)

    def slow(self, rest: bytes, now: float) -> Reaction:
        return Reaction(now + float(rest.partition(b"/")[0]), OK)

    def small(self, rest: bytes, now: float) -> Reaction:
        """Queue requests in order of arrival, even if the sender hangs up before the answer."""
        workers, seconds = rest.split(b"/", 2)[:2]
        free = self.workers.setdefault(rest, [0.0] * int(workers))
        ready_at = max(now, free[0]) + float(seconds)
        heapq.heapreplace(free, ready_at)
        return Reaction(ready_at, OK)

    def reset(self, _: bytes, now: float) -> Reaction:
        return Reaction(now, RESET)

    def redirect(self, _: bytes, now: float) -> Reaction:
        return Reaction(now, ELSEWHERE)


KINDS: dict[bytes, Callable[[Manners, bytes, float], Reaction]] = {
    b"silent": Manners.never,
    b"fall": Manners.fall,
    b"slow": Manners.slow,
    b"small": Manners.small,
    b"reset": Manners.reset,
    b"redirect": Manners.redirect,
}
