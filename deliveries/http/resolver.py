"""From a host name to addresses we may connect to, without holding up the loop that asks.

`getaddrinfo` has no deadline and blocks, so every name is looked up in a thread of its own. One
forbidden address spoils the name: whoever mixes a private address into an answer means it.
"""

import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from deliveries.http.answers import Failure
from webhooks.targets import Policy, is_localhost

Lookup = Callable[[str], Iterable[str]]
Waiter = TypeVar("Waiter")

GOOD_SECONDS = 30.0
BAD_SECONDS = 5.0
MAX_NAMES = 10_000
MAX_THREADS = 128
# An answer may hold hundreds of records. All are judged, so many are tried.
MAX_ADDRESSES = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """The vetted addresses of a name, or why there are none."""

    addresses: tuple[str, ...] = ()
    error: Failure | None = None
    detail: str = ""


NOT_PUBLIC = Answer(
    (), Failure.FORBIDDEN_ADDRESS, "The host name resolves to one of our own addresses."
)
LATE = Answer((), Failure.DNS, "The host name was not resolved within the time limit.")


def system_lookup(host: str) -> list[str]:
    """Ask the operating system. Raises OSError (gaierror) when there is no answer."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Resolver(Generic[Waiter]):
    """Looks names up in threads and keeps what it learnt for a few seconds.

    Everything but the threads' own work is called from one thread. `lookup` takes a name, returns
    its addresses as text and raises when there are none. Waiters are whatever the caller likes;
    their deadlines, on the monotonic clock, must not fall from one call to the next.
    """

    def __init__(
        self,
        policy: Policy,
        lookup: Lookup | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._policy = policy
        self._lookup = lookup or system_lookup
        self._clock = clock
        # Never looked up (RFC 6761): what the hosts file says of it must not matter.
        self._localhost = Answer(policy.loopback) if policy.loopback else NOT_PUBLIC
        self._known: dict[str, tuple[float, Answer]] = {}
        self._waiters: dict[Waiter, tuple[str, float]] = {}
        self._asked: set[str] = set()
        self._lock = threading.Lock()
        self._to_ask: deque[str] = deque()
        self._threads = 0
        self._found: dict[str, Answer] = {}
        self._ear, self._bell = socket.socketpair()
        self._ear.setblocking(False)
        self._bell.setblocking(False)

    def resolve(self, host: str, waiter: Waiter, deadline: float) -> Answer | None:
        """Return what is known of the name; None means `answers` will name the waiter."""
        if is_localhost(host):
            return self._localhost
        expires, answer = self._known.get(host, (0.0, LATE))
        if self._clock() < expires:
            return answer
        self._waiters[waiter] = (host, deadline)
        if host not in self._asked:
            self._asked.add(host)
            self._ask(host)
        return None

    def fileno(self) -> int:
        """A descriptor that is readable when `answers` has news."""
        return self._ear.fileno()

    @property
    def next_deadline(self) -> float:
        """When the first waiter's time is over; infinity when nobody waits."""
        return next((deadline for _, deadline in self._waiters.values()), float("inf"))

    def answers(self) -> list[tuple[Waiter, Answer]]:
        """Return the waiters whose names have been answered, or whose time is over."""
        if not self._asked:
            return []
        with self._lock, suppress(BlockingIOError):
            news, self._found = self._found, {}
            self._ear.recv(65_536)
        self._asked -= news.keys()
        for host, answer in news.items():
            self._remember(host, answer)
        now = self._clock()
        ready = []
        for waiter, (host, deadline) in self._waiters.items():
            if host in news:
                ready.append((waiter, news[host]))
            elif deadline <= now:
                ready.append((waiter, LATE))
        for waiter, _ in ready:
            del self._waiters[waiter]
        return ready

    def close(self) -> None:
        """Let go. Lookups under way end in their own time and are not heard."""
        with self._lock:
            self._to_ask.clear()
        self._bell.close()
        self._ear.close()

    def _remember(self, host: str, answer: Answer) -> None:
        self._known.pop(host, None)
        if len(self._known) >= MAX_NAMES:
            del self._known[next(iter(self._known))]
        seconds = BAD_SECONDS if answer.error else GOOD_SECONDS
        self._known[host] = (self._clock() + seconds, answer)

    def _ask(self, host: str) -> None:
        with self._lock:
            self._to_ask.append(host)
            if self._threads == MAX_THREADS:
                return
            self._threads += 1
        try:
            threading.Thread(target=self._work, name="resolver", daemon=True).start()
        except RuntimeError as error:
            with self._lock:
                self._threads -= 1
                if host not in self._to_ask:  # another thread took it
                    return
                self._to_ask.remove(host)
            self._tell(host, Answer((), Failure.INTERNAL, f"No thread for the name: {error}."))

    def _work(self) -> None:
        """In a thread: look up what is to be asked, end when nothing is."""
        while True:
            with self._lock:
                if not self._to_ask:
                    self._threads -= 1
                    return
                host = self._to_ask.popleft()
            self._tell(host, self._vetted(host))

    def _tell(self, host: str, answer: Answer) -> None:
        # A full pipe rings already; a closed one has nobody listening.
        with self._lock, suppress(OSError):
            self._found[host] = answer
            self._bell.send(b"!")

    def _vetted(self, host: str) -> Answer:
        try:
            addresses = tuple(dict.fromkeys(self._lookup(host)))
        except Exception as error:  # of any kind: a thread that died would leave its name hanging
            reason = getattr(error, "strerror", None) or error
            return Answer((), Failure.DNS, f"The host name cannot be resolved: {reason}.")
        if not addresses:
            return Answer((), Failure.DNS, "The host name has no address.")
        for address in addresses:
            if reason := self._policy.why_forbidden(address):
                # Which address stays with us: names of an inner network may tell about it.
                detail = f"The host name resolves to an address that is not public ({reason})."
                return Answer((), Failure.FORBIDDEN_ADDRESS, detail)
        return Answer(addresses[:MAX_ADDRESSES])
