"""Percentiles of times."""

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def in_ms(seconds: Sequence[float], digits: int = 1) -> dict[str, float]:
    """Return p50, p95, p99 and max in milliseconds; empty without values."""
    if not seconds:
        return {}
    return {
        **{f"p{each}": round(1000 * percentile(seconds, each), digits) for each in (50, 95, 99)},
        "max": round(1000 * max(seconds), digits),
    }
