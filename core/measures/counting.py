"""Counts and times in this process, until core.measures.sums writes them down. Pure.

A series is a name with the values of its labels. Those come from the code alone, never from what
companies or receivers send: so there are a few hundred, however many webhooks there are.
"""

import os
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

Labels = tuple[str, ...]
Series = tuple[str, Labels]


@dataclass(frozen=True, slots=True)
class CountMeasure:
    """Counter of occurrences or seconds, by the values of its labels.

    In Prometheus its name has `parceldesk_` before it and `_total` after it. The series of
    `from_zero` are shown before anything was counted: increase() sees no first event otherwise.
    """

    name: str
    text: str
    labels: Labels = ()
    from_zero: tuple[Labels, ...] = ()


@dataclass(frozen=True, slots=True)
class TimeMeasure:
    """Histogram of seconds; `bounds` are those of its buckets, in order."""

    name: str
    text: str
    bounds: tuple[float, ...]
    labels: Labels = ()

    @property
    def sum_name(self) -> str:
        return f"{self.name}_sum"

    def bucket_of(self, seconds: float) -> float | None:
        """Return the bound of the bucket that a time falls into; None for the last."""
        place = bisect_left(self.bounds, seconds)
        return self.bounds[place] if place < len(self.bounds) else None

    def bucket(self, bound: float | None, labels: Labels = ()) -> Series:
        """Return the series of a bucket by its bound. Buckets are stored apart, not cumulated."""
        return f"{self.name}_bucket", (*labels, "+Inf" if bound is None else repr(bound))


class Pending:
    """Sums that are not in the database yet."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.sums: dict[Series, float] = {}

    def __bool__(self) -> bool:
        return bool(self.sums)

    def add(self, sums: Mapping[Series, float]) -> None:
        with self.lock:
            for series, value in sums.items():
                self.sums[series] = self.sums.get(series, 0.0) + value

    def take(self) -> dict[Series, float]:
        """Remove and return all sums; the caller adds back what it cannot write."""
        with self.lock:
            sums, self.sums = self.sums, {}
            return sums

    def forget(self) -> None:
        """Reset in a forked child: sums from before the fork, and the lock, are its parent's."""
        self.__init__()  # type: ignore[misc]


pending = Pending()
os.register_at_fork(after_in_child=pending.forget)


def count(what: CountMeasure, *labels: str, by: float = 1.0) -> None:
    """Add to a counter, from any thread. `by` is not negative: a sum never falls."""
    pending.add({(what.name, labels): by})


def count_time(what: TimeMeasure, seconds: float, *labels: str) -> None:
    """Record a time in a histogram, from any thread."""
    bucket = what.bucket(what.bucket_of(seconds), labels)
    pending.add({bucket: 1.0, (what.sum_name, labels): max(0.0, seconds)})
