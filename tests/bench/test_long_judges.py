"""Limits of the hour and of the snapshot: each passes at its limit and fails just beyond it."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tools.bench.books import Books
from tools.bench.healthy import Healthy
from tools.bench.minutes import KILLED, Minute, words
from tools.bench.readings import Mark
from tools.bench.scenarios import hour, snapshot
from tools.bench.scenarios.hour import Hour

BOOKS = Books(1000, delivered=1000, waiting=0, given_up=0, received=1000, repeats=0)
KILL = Mark(100.0, KILLED, 105.0)


def minute(
    slow: int = 0,
    slow_ms: float = 101,
    published: int = 1000,
    arrived: int = 1000,
    worker_mb: float = 300,
) -> Minute:
    """Build a minute of a thousand events, some of them slow."""
    used = {"worker_mb": worker_mb, "postgres_mb": 100.0}
    seconds = [0.01] * (1000 - slow) + [slow_ms / 1000] * slow
    times, none = Healthy(seconds, late=0.0), Healthy([], late=0.0)
    return Minute(1.0, 1000, published, arrived, times, none, used, [])


@pytest.mark.parametrize(
    ("measured", "broken"),
    [
        (minute(), 0),
        (minute(slow=1), 0),
        (minute(slow=2), 1),
        (minute(slow=2, slow_ms=100), 0),
        (minute(slow=2, slow_ms=math.inf), 1),
        (minute(published=900), 0),
        (minute(published=899), 1),
        (minute(arrived=899), 1),
    ],
)
def test_a_minute(measured: Minute, broken: int) -> None:
    assert len(hour.broken(measured)) == broken
    json.dumps(measured.row(), allow_nan=False)


def test_a_minute_that_a_kill_has_all_of_is_not_late() -> None:
    apart = replace(minute(), healthy=Healthy([], late=0.0), apart=Healthy([4.5], late=0.0))

    assert hour.broken(apart) == []
    assert apart.row()["apart_longest_ms"] == 4500.0


@pytest.mark.parametrize(
    ("books", "repeats", "broken"),
    [
        (BOOKS, [], []),
        (replace(BOOKS, received=999), [], ["1 events have not arrived"]),
        (BOOKS, [100.0, 115.0], []),
        (BOOKS, [99.0, 116.0], ["2 repeats that are not behind a kill"]),
    ],
)
def test_nothing_is_lost_or_repeated(
    books: Books, repeats: Sequence[float], broken: Sequence[str]
) -> None:
    assert Hour([minute()] * 5, [KILL], repeats, books).broken() == broken


@pytest.mark.parametrize(("last", "broken"), [(330, 0), (331, 1), (250, 0)])
def test_memory_stays_level(last: float, broken: int) -> None:
    """Ignore the memory from before the neighbours arrived."""
    measured = [minute(worker_mb=100), *[minute()] * 9, minute(worker_mb=last)]

    assert len(Hour(measured, [], [], BOOKS).broken()) == broken


def test_each_minute_is_reported() -> None:
    marks = [KILL, Mark(30.0, "transaction open", 130.0), Mark(50.0, "checkpoint", 50.0)]

    assert words(marks, 0.0, 60.0) == ["transaction open", "checkpoint"]
    assert words(marks, 60.0, 120.0) == ["transaction open", KILLED]


@pytest.mark.parametrize(
    ("what", "quiet", "beside", "holds"),
    [
        ("p99_ms", 10.0, 11.0, True),
        ("p99_ms", 10.0, 11.1, False),
        ("p99_ms", 10.0, None, False),
        ("arrived", 1000.0, 900.0, True),
        ("arrived", 1000.0, 899.0, False),
        ("arrived", 1000.0, 1200.0, True),
    ],
)
def test_rates_next_to_an_open_transaction(
    what: str, quiet: float, beside: float | None, holds: bool
) -> None:
    assert snapshot.Compared(what, quiet, beside, judged=True).holds == holds


def test_parts_take_turns() -> None:
    used = {"worker_mb": 1.0, "worker_cpu_s": 2.0, "postgres_cpu_s": 3.0}
    hour = [replace(minute(arrived=1000 + end), end=float(end), used=used) for end in range(1, 9)]
    rate = snapshot.compare(hour, minutes_of_part=2)[0]

    # Minutes 1, 2, 5, 6 are quiet.
    assert (rate.what, rate.quiet, rate.beside) == ("arrived", 1003.5, 1005.5)
