"""What the person who waits is told, on stderr; figures go to stdout."""

import sys
import time
from collections.abc import Callable

from tqdm import tqdm

PATIENCE_SECONDS = 120
LOOK_EVERY_SECONDS = 0.05


def say(message: str) -> None:
    print(f"bench: {message}", file=sys.stderr, flush=True)


def until(done: Callable[[], bool], otherwise: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for it. Raises TimeoutError with `otherwise`."""
    if not within(seconds, done):
        raise TimeoutError(f"{otherwise} within {seconds:.0f} seconds")


def within(seconds: float, done: Callable[[], bool]) -> bool:
    """Wait for it, at most so long; whether it came."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_EVERY_SECONDS)
    return True


def until_count(count: Callable[[], int], total: int, what: str) -> None:
    """Wait for a count to reach its total, showing it on a terminal.

    Raises TimeoutError when it stands still for PATIENCE_SECONDS.
    """
    with tqdm(total=total, desc=what, unit="", disable=None) as bar:
        seen, moved = 0, time.monotonic()
        while seen < total:
            now = count()
            if now > seen:
                bar.update(now - seen)
                seen, moved = now, time.monotonic()
            elif time.monotonic() - moved > PATIENCE_SECONDS:
                raise TimeoutError(f"{what}: {seen} of {total}, and no more for a while")
            time.sleep(LOOK_EVERY_SECONDS)
