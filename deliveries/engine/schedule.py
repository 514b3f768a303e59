"""Retry schedule of deliveries (decision W19). Pure: the dice are an argument."""

from collections.abc import Sequence

JITTER = 0.1
LONGEST_RETRY_AFTER = 86400.0


def next_wait(
    failures: int, waits: Sequence[float], dice: float, retry_after: float | None = None
) -> float | None:
    """Return the seconds to wait after the `failures`-th failure, or None to give up.

    `dice` is in [0, 1) and adds up to 10 %. A longer Retry-After of the receiver prevails, up to
    24 hours.
    """
    if failures > len(waits):
        return None
    wait = waits[failures - 1] * (1 + JITTER * dice)
    return max(wait, min(retry_after or 0.0, LONGEST_RETRY_AFTER))
