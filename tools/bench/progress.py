"""Progress messages and waiting. Messages go to stderr, figures to stdout."""

import sys
import time
from collections.abc import Callable

from tqdm import tqdm

PATIENCE_SECONDS = 120
LOOK_EVERY_SECONDS = 0.05


def say(message: str) -> None:
    print(f"bench: {message}", file=sys.stderr, flush=True)


def until(condition: Callable[[], bool], otherwise: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for a condition. Raises TimeoutError with `otherwise`."""
    if not within(seconds, condition):
        raise TimeoutError(f"{otherwise} within {seconds:.0f} seconds")


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Wait for a condition; return False on timeout."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_EVERY_SECONDS)
    return True


def until_count(count: Callable[[], int], total: int, what: str) -> None:
    """Wait for a count to reach its total, showing it on a terminal.

    Raises TimeoutError if it does not grow for PATIENCE_SECONDS.
    """
    with tqdm(total=total, desc=what, unit="", disable=None) as bar:
        last_count, moved = 0, time.monotonic()
        while last_count < total:
            now = count()
            if now > last_count:
                bar.update(now - last_count)
                last_count, moved = now, time.monotonic()
            elif time.monotonic() - moved > PATIENCE_SECONDS:
                raise TimeoutError(f"{what}: {last_count} of {total}, and no more for a while")
            time.sleep(LOOK_EVERY_SECONDS)
