"""Password hashing, one at a time per process, with a limit of waiting threads.

A hash takes half a second of a core, and a sign-in needs one before the user is known. Threads that
hash starve the others, and threads that wait serve nobody: the web server queues strangers without
a thread, and takes turns by address (config.door).
Why: decision page desk-signing-in.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import BoundedSemaphore, Event, Lock

from django.contrib.auth.hashers import PBKDF2PasswordHasher

# Threads, of the eight of a web process, that hash or wait for a hash.
AT_ONCE = 3
# The last place is reserved for known devices and signed-in users.
STRANGERS_AT_ONCE = AT_ONCE - 1
RETRY_AFTER_SECONDS = 2
# A longer wait in the web server is answered with "retry later": proxies give up after a minute.
MOST_WAITED_SECONDS = 25.0


class FirstComeLock:
    """Lock that is granted in the order of waiting."""

    def __init__(self) -> None:
        self.guard = Lock()
        self.is_locked = False
        self.row: deque[Event] = deque()

    def __enter__(self) -> None:
        with self.guard:
            if not self.is_locked:
                self.is_locked = True
                return
            mine = Event()
            self.row.append(mine)
        mine.wait()

    def __exit__(self, *_: object) -> None:
        with self.guard:
            if self.row:
                self.row.popleft().set()
            else:
                self.is_locked = False


places = BoundedSemaphore(AT_ONCE)
strangers = BoundedSemaphore(STRANGERS_AT_ONCE)
turn = FirstComeLock()
# Called before a hash: whether the current request comes from a known device or user.
is_known: ContextVar[Callable[[], bool]] = ContextVar("is_known", default=lambda: False)
# Time that the current request has waited in the web server for its turn to hash.
waited_seconds: ContextVar[float] = ContextVar("waited_seconds", default=0.0)


class TooManySignIns(Exception):
    """The limit of concurrent password hashes is reached."""


@contextmanager
def on_behalf_of(is_known_caller: Callable[[], bool]) -> Iterator[None]:
    """Let hashes within call `is_known_caller` to learn whether the reserved place is theirs."""
    token = is_known.set(is_known_caller)
    try:
        yield
    finally:
        is_known.reset(token)


@contextmanager
def after_waiting(seconds: float) -> Iterator[None]:
    """Set the waiting time of the current request for hashes within."""
    token = waited_seconds.set(seconds)
    try:
        yield
    finally:
        waited_seconds.reset(token)


@contextmanager
def place_for(is_known_caller: bool) -> Iterator[None]:
    """Take a place; raises TooManySignIns immediately if all are taken."""
    needed = [places] if is_known_caller else [strangers, places]
    acquired = []
    try:
        for one in needed:
            if not one.acquire(blocking=False):
                raise TooManySignIns
            acquired.append(one)
        yield
    finally:
        for one in acquired:
            one.release()


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait for the turn; raises TooManySignIns immediately if too many wait already.

    A stranger whose turn came too late gets the same error, since the client may be gone.
    """
    is_known_caller = is_known.get()()
    if not is_known_caller and waited_seconds.get() > MOST_WAITED_SECONDS:
        raise TooManySignIns
    with place_for(is_known_caller), turn:
        yield


class PBKDF2InTurn(PBKDF2PasswordHasher):
    """Django's default hasher with a limit; hashes are interchangeable with Django's."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Hash a password, also to verify one or for an unknown name. Raises TooManySignIns."""
        with in_turn():
            return super().encode(password, salt, iterations)
