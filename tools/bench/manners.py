"""How a receiver behaves: the path of the request says it. No Django.

/silent/…                  no answer, ever
/fall/…                    200, until the receiver is told to fall silent
/slow/SECONDS/…            200, so many seconds later
/small/WORKERS/SECONDS/…   200 by a server of so many workers, each busy with a request for so
                           many seconds; requests that find none free wait in a queue
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
    """What to send, and when on the monotonic clock; `math.inf` is never."""

    at: float
    answer: bytes


class Manners:
    def __init__(self) -> None:
        self.silent = False
        # For each small server when each of its workers is free again: a heap.
        self.workers: dict[bytes, list[float]] = {}

    def react(self, request: bytes, now: float) -> Reaction:
        path = request[: request.find(b" HTTP/")].partition(b" ")[2]
        kind, _, rest = path[1:].partition(b"/")
        chosen = KINDS.get(kind)
        return chosen(self, rest, now) if chosen else Reaction(now, OK)

    def never(self, _: bytes, __: float) -> Reaction:
        return Reaction(math.inf, OK)

    def fall(self, _: bytes, now: float) -> Reaction:
        return Reaction(math.inf if self.silent else now, OK)

    def slow(self, rest: bytes, now: float) -> Reaction:
        return Reaction(now + float(rest.partition(b"/")[0]), OK)

    def small(self, rest: bytes, now: float) -> Reaction:
        """Its workers take requests in the order in which they come, also those of senders that
        have given up by then: a server learns of that when it answers.
        """
        workers, seconds = rest.split(b"/", 2)[:2]
        free = self.workers.setdefault(rest, [0.0] * int(workers))
        done = max(now, free[0]) + float(seconds)
        heapq.heapreplace(free, done)
        return Reaction(done, OK)

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
