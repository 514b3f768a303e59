"""Lookup of host names by c-ares in the calling thread: no call here blocks."""

import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, NamedTuple, TypeVar

import pycares

Key = TypeVar("Key")

# Timeout of the first try until c-ares knows a server; then it is five times the server's average,
# never less than this. Each try waits twice as long as the previous one, or a little less: five
# tries of a quick server last between 4 and 8 seconds.
FIRST_TRY_SECONDS = 0.25
TRIES = 5
# Answers are read after this many questions at the latest: Linux has room for about eighty of them
# and drops the rest, each of which then costs a try. We request more room, of which Linux grants
# what net.core.rmem_max allows: servers may answer all at once after we had no CPU for a while.
READ_AFTER = 32
ROOM_BYTES = 1024 * 1024
# The configuration is read again this often while there are questions, which also empties c-ares'
# cache: that is unbounded, with 2.5 KB for each name.
CONFIGURATION_SECONDS = 10.0
CONFIGURATION_QUESTIONS = 2_000
# Longest time between calls of c-ares while a question is open; it may ask to be called earlier.
LONGEST_WAIT = 1.0


class LookupResult(NamedTuple):
    """Result of a question: addresses, or why there are none.

    `exists` is False only if the name servers say that there is no such name.
    """

    addresses: tuple[str, ...] = ()
    error: str = ""
    exists: bool = True


class NameServers(Generic[Key]):
    """Looks names up as `getaddrinfo` would: hosts file, then A and AAAA per resolv.conf.

    Belongs to one thread. `servers` ("address:port") replace those of resolv.conf in tests.
    """

    def __init__(
        self, servers: Sequence[str] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.open_questions = 0
        self._clock = clock
        self._check_at = 0.0
        self._question_count = 0
        self._ended: deque[tuple[Key, pycares.AddrInfoResult | None, int | None]] = deque()
        self._configuration_read_at = clock()
        self._epoll = select.epoll()
        self._channel = pycares.Channel(
            timeout=FIRST_TRY_SECONDS,
            tries=TRIES,
            servers=servers,
            socket_receive_buffer_size=ROOM_BYTES,
            sock_state_cb=self._watch,
        )

    def fileno(self) -> int:
        """Return a descriptor that is readable when an answer has come."""
        return self._epoll.fileno()

    @property
    def next_check(self) -> float:
        """Time by which `answers` must be called; infinity if no question is open."""
        return self._check_at if self.open_questions else float("inf")

    def ask(self, host: str, key: Key) -> None:
        """Ask for the addresses of an ASCII name. `answers` returns the key, once."""
        now = self._clock()
        self._question_count += 1
        old = now - self._configuration_read_at >= CONFIGURATION_SECONDS
        if old or self._question_count % CONFIGURATION_QUESTIONS == 0:
            self._read_configuration()
        self.open_questions += 1
        # The hosts file answers immediately, and a new question has a timeout of its own.
        self._check_at = now
        self._channel.getaddrinfo(
            host, None, type=socket.SOCK_STREAM, callback=partial(self._take, key)
        )
        if self._question_count % READ_AFTER == 0:
            self._read()

    def answers(self) -> Iterator[tuple[Key, LookupResult]]:
        """Read what has come, retry what is overdue, and yield the questions that have ended."""
        self._read()
        empty = False
        while self._ended:
            key, result, error = self._ended.popleft()
            self.open_questions -= 1
            empty |= error == pycares.errno.ARES_ENODATA
            yield key, _read_result(result, error)
        if empty:
            # c-ares would cache for an hour that the name has no addresses.
            self._read_configuration()

    def close(self) -> None:
        """Drop open questions. c-ares closes its sockets in a thread of pycares."""
        self._channel.close()
        self._epoll.close()

    def _read(self) -> None:
        ready = self._epoll.poll(0)
        for descriptor, events in ready:
            self._channel.process_fd(
                descriptor if events & ~select.EPOLLOUT else pycares.ARES_SOCKET_BAD,
                descriptor if events & select.EPOLLOUT else pycares.ARES_SOCKET_BAD,
            )
        now = self._clock()
        if ready or now >= self._check_at:
            self._channel.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
            self._check_at = now + self._channel.timeout(LONGEST_WAIT)

    def _read_configuration(self) -> None:
        """Have c-ares read resolv.conf again and empty its cache, which has no bound."""
        self._configuration_read_at = self._clock()
        # If it cannot be read, the present configuration stays.
        with suppress(pycares.AresError):
            self._channel.reinit()

    # c-ares calls these two, in a thread of its own after `close` and when servers are replaced.

    def _take(self, key: Key, result: pycares.AddrInfoResult | None, error: int | None) -> None:
        self._ended.append((key, result, error))

    def _watch(self, descriptor: int, readable: bool, writable: bool) -> None:
        events = (select.EPOLLIN if readable else 0) | (select.EPOLLOUT if writable else 0)
        # ValueError: `close` has closed the epoll before c-ares closed its sockets.
        with suppress(ValueError):
            if not events:
                self._epoll.unregister(descriptor)
                return
            try:
                self._epoll.modify(descriptor, events)
            except FileNotFoundError:
                self._epoll.register(descriptor, events)


def _read_result(result: pycares.AddrInfoResult | None, error: int | None) -> LookupResult:
    if result is None:
        assert error is not None  # noqa: S101
        reason = str(pycares.errno.strerror(error))
        return LookupResult((), reason, exists=error != pycares.errno.ARES_ENOTFOUND)
    return LookupResult(tuple(dict.fromkeys(node.addr[0].decode() for node in result.nodes)))
