"""Sockets that libcurl wants watched, in an epoll: a thousand silent ones cost nothing."""

import select

# CURL_POLL_IN, _OUT and _INOUT are bits; readiness is reported in the same bits.
READABLE = 1
WRITABLE = 2
_EVENTS = {1: select.EPOLLIN, 2: select.EPOLLOUT, 3: select.EPOLLIN | select.EPOLLOUT}
_READ_EVENTS = select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR


class Sockets:
    """Waits for libcurl's sockets, and for `bell` and those of `add_bell`, which `ready` omits.

    `rung`: the last wait was ended by one of `add_bell`.
    """

    def __init__(self, bell: int) -> None:
        self._bell = bell
        self._bells = {bell}
        self._epoll = select.epoll()
        self._epoll.register(bell, select.EPOLLIN)
        self.rung = False
        self._watched: dict[int, int] = {}
        self._resting: set[int] = set()

    def add_bell(self, bell: int) -> None:
        self._bells.add(bell)
        self._epoll.register(bell, select.EPOLLIN)

    def watch(self, what: int, descriptor: int, *_: object) -> None:
        """Record what a socket waits for; libcurl's socket callback."""
        events = _EVENTS.get(what)
        if events is None:
            # Usually a connection that is idle until the next request. It stays in the epoll,
            # which saves two system calls for every request.
            self._resting.add(descriptor)
            return
        self._resting.discard(descriptor)
        watched = self._watched.get(descriptor)
        if watched is None:
            self._epoll.register(descriptor, events)
        elif watched != events:
            self._epoll.modify(descriptor, events)
        self._watched[descriptor] = events

    def opened(self, descriptor: int) -> None:
        """Forget a former socket of this number: it left the epoll when it was closed."""
        self._watched.pop(descriptor, None)
        self._resting.discard(descriptor)

    def ready(self, seconds: float) -> list[tuple[int, int]]:
        """Wait at most `seconds`; return the ready sockets with their event bits."""
        ready = []
        self.rung = False
        for descriptor, events in self._epoll.poll(seconds):
            if descriptor in self._resting:
                # The peer has closed or sent unsolicited data: libcurl sees that on reuse.
                self.opened(descriptor)
                self._epoll.unregister(descriptor)
            elif descriptor in self._bells:
                self.rung = self.rung or descriptor != self._bell
            else:
                readable = READABLE if events & _READ_EVENTS else 0
                writable = WRITABLE if events & select.EPOLLOUT else 0
                ready.append((descriptor, readable | writable))
        return ready

    def close(self) -> None:
        self._epoll.close()
