"""Times in a form that people compare."""

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of the values that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def in_ms(seconds: Sequence[float], digits: int = 1) -> dict[str, float]:
    """p50, p95, p99 and max, in milliseconds; nothing when there are no values."""
    if not seconds:
        return {}
    return {
        **{f"p{each}": round(1000 * percentile(seconds, each), digits) for each in (50, 95, 99)},
        "max": round(1000 * max(seconds), digits),
    }
