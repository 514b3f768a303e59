"""Passwords are hashed one at a time in a process, and few threads wait for that.

A hash takes half a second of a core, and a sign-in needs one before anybody knows who asks. Threads
that hash leave the others too little of the processor, and threads that wait serve nobody: the web
server lets strangers wait without one, and take turns by address (config.door).
Why: decision page desk-signing-in.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import BoundedSemaphore, Event, Lock

from django.contrib.auth.hashers import PBKDF2PasswordHasher

# The one that is hashed and those that wait for it, of the eight threads of a web process.
AT_ONCE = 3
# Strangers leave the last place to devices that have signed in before, and to whoever is signed in.
STRANGERS_AT_ONCE = AT_ONCE - 1
RETRY_AFTER_SECONDS = 2
# Whoever has waited for longer in the web server is put off: proxies wait no longer than a minute.
MOST_WAITED_SECONDS = 25.0


class FirstComeLock:
    """A lock that goes to whoever has waited for it longest."""

    def __init__(self) -> None:
        self.guard = Lock()
        self.taken = False
        self.row: deque[Event] = deque()

    def __enter__(self) -> None:
        with self.guard:
            if not self.taken:
                self.taken = True
                return
            mine = Event()
            self.row.append(mine)
        mine.wait()

    def __exit__(self, *_: object) -> None:
        with self.guard:
            if self.row:
                self.row.popleft().set()
            else:
                self.taken = False


places = BoundedSemaphore(AT_ONCE)
strangers = BoundedSemaphore(STRANGERS_AT_ONCE)
turn = FirstComeLock()
# Asked before a hash: whether the request at work comes from somebody known.
is_known: ContextVar[Callable[[], bool]] = ContextVar("is_known", default=lambda: False)
# For how long the request at work has waited in the web server to have a password hashed.
waited_seconds: ContextVar[float] = ContextVar("waited_seconds", default=0.0)


class TooManySignIns(Exception):
    """As many passwords are being hashed, or wait for it, as may."""


@contextmanager
def on_behalf_of(known: Callable[[], bool]) -> Iterator[None]:
    """Have hashes within ask `known` whether a place is kept for them."""
    before = is_known.set(known)
    try:
        yield
    finally:
        is_known.reset(before)


@contextmanager
def after_waiting(seconds: float) -> Iterator[None]:
    """Have hashes within know for how long their request has waited for its turn."""
    before = waited_seconds.set(seconds)
    try:
        yield
    finally:
        waited_seconds.reset(before)


@contextmanager
def place_for(known: bool) -> Iterator[None]:
    """Take a place; raises TooManySignIns at once if none is left."""
    needed = [places] if known else [strangers, places]
    taken = []
    try:
        for one in needed:
            if not one.acquire(blocking=False):
                raise TooManySignIns
            taken.append(one)
        yield
    finally:
        for one in taken:
            one.release()


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait for the turn; raises TooManySignIns at once where too many wait already.

    A stranger whose turn came too late is put off as well: their client may be gone.
    """
    known = is_known.get()()
    if not known and waited_seconds.get() > MOST_WAITED_SECONDS:
        raise TooManySignIns
    with place_for(known), turn:
        yield


class PBKDF2InTurn(PBKDF2PasswordHasher):
    """Django's default. What it has made, Django's reads, and the other way round."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Also called to verify, and for a name that is nobody's. Raises TooManySignIns."""
        with in_turn():
            return super().encode(password, salt, iterations)
