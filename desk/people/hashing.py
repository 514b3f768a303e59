"""Passwords are hashed one at a time in a process, and few wait for that.

A hash takes half a second of a core, and a sign-in needs one before anybody knows who asks. Threads
that hash leave the others too little of the processor, and threads that wait serve nobody.
Why: decision page desk-signing-in.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

from django.contrib.auth.hashers import PBKDF2PasswordHasher

# The one that is hashed and those that wait for it, of the eight threads of a web process.
AT_ONCE = 3
RETRY_AFTER_SECONDS = 2

places = BoundedSemaphore(AT_ONCE)
turn = Lock()


class TooManySignIns(Exception):
    """As many passwords are being hashed, or wait for it, as may."""


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait for the turn; raises TooManySignIns at once where too many wait already."""
    if not places.acquire(blocking=False):
        raise TooManySignIns
    try:
        with turn:
            yield
    finally:
        places.release()


class PBKDF2InTurn(PBKDF2PasswordHasher):
    """Django's default. What it has made, Django's reads, and the other way round."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Also called to verify, and for a name that is nobody's. Raises TooManySignIns."""
        with in_turn():
            return super().encode(password, salt, iterations)
