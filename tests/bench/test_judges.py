"""Each judge says `ok` up to its limit and `FAILS` beyond it, and the figures stay printed."""

import json
import math

import pytest

from tools.bench.healthy import Healthy
from tools.bench.memory import Memory
from tools.bench.outcome import Outcome
from tools.bench.pace import Pace
from tools.bench.scenarios import latency
from tools.bench.scenarios.idle import Idle
from tools.bench.scenarios.lanes import Size, finite_ms
from tools.bench.scenarios.neighbours import NeighbourResult
from tools.bench.small_receivers import SmallReceiverResult


def healthy(ms: float, late: int = 0) -> Healthy:
    """Build the result of a hundred events, `late` of which never arrived."""
    return Healthy([ms / 1000] * (100 - late) + [math.inf] * late, late=0.0)


@pytest.mark.parametrize(
    ("alone", "beside", "holds"),
    [
        (healthy(10), healthy(30), True),
        (healthy(10), healthy(31), False),
        (healthy(40), healthy(100), True),
        (healthy(40), healthy(101), False),
        (healthy(10), healthy(30, late=1), True),
        (healthy(10), healthy(30, late=2), False),
        (healthy(10), healthy(30, late=100), False),
    ],
)
def test_neighbours(alone: Healthy, beside: Healthy, holds: bool) -> None:
    judged = NeighbourResult("slow", "slow ones", alone, beside)

    assert judged.holds == holds
    assert judged.row()["ok"] == holds


def test_an_event_that_never_comes_is_no_number() -> None:
    row = healthy(10, late=2).row()

    assert (row["arrived"], row["p50_ms"], row["p99_ms"]) == (98, 10.0, None)
    json.dumps(row, allow_nan=False)


def pace(webhooks: int, ms: int, rate: float) -> Pace:
    return Pace(webhooks, ms, rate, {}, most_in_flight=0, answered=1, lost=0)


@pytest.mark.parametrize(
    ("webhooks", "ms", "rate", "holds"),
    [
        (1, 0, 1, True),
        (1, 50, 5000, True),
        (1, 50, 4999, False),
        (1, 200, 2000, True),
        (1, 200, 1999, False),
        (200, 200, 6000, True),
        (200, 200, 5999, False),
        (200, 50, 5999, False),
    ],
)
def test_receivers_that_take_their_time(webhooks: int, ms: int, rate: float, holds: bool) -> None:
    paces = [pace(200, 0, 9000), pace(webhooks, ms, rate)]
    promises = [latency.promise(each, paces) for each in paces]

    assert latency.failures(paces, promises, []) == (
        [] if holds else [f"{webhooks} webhooks at {ms} ms: {rate}/s, at least {promises[1]}/s"]
    )


def spared(rate: float = 90, timeouts: int = 1, slow: int = 0) -> SmallReceiverResult:
    durations = [0.9] * (100 - slow) + [1.0] * slow
    return SmallReceiverResult(10, 100.0, rate, durations, timeouts)


@pytest.mark.parametrize(
    ("measured", "broken"),
    [
        (spared(), 0),
        (spared(rate=89), 1),
        (spared(timeouts=2), 1),
        (spared(slow=1), 0),
        (spared(slow=2), 1),
        (SmallReceiverResult(10, 100.0, 0, [], 0), 2),
    ],
)
def test_small_servers(measured: SmallReceiverResult, broken: int) -> None:
    assert len(measured.broken()) == broken
    assert measured.row()["ok"] == (not broken)


def size(oldest: list[float], oldest_due: list[float]) -> Size:
    fresh = {"oldest": oldest, "middle": [9.0], "newest": [9.0]}
    return Size(10, fresh, oldest_due, {"worker": 0.1, "postgres": 0.1}, lost=0)


@pytest.mark.parametrize(
    ("measured", "broken"),
    [
        (size([1.0], [0.005]), 0),
        (size([1.1], [0.005]), 1),
        (size([1.0, math.inf], [0.005]), 1),
        (size([1.0], [0.0052]), 1),
        (size([1.0], [math.inf]), 1),
    ],
)
def test_lanes(measured: Size, broken: int) -> None:
    assert len(measured.broken()) == broken
    json.dumps(measured.row(), allow_nan=False)


def test_missing_arrivals_give_no_figure() -> None:
    assert finite_ms([0.01, math.inf]) == {"p50": 10.0, "p99": None, "came": 1, "asked": 2}


@pytest.mark.parametrize(
    ("megabytes", "percent", "broken"),
    [(260, 0.7, 0), (260.1, 0.7, 1), (260, 0.71, 1), (261, 1, 2)],
)
def test_idle(megabytes: float, percent: float, broken: int) -> None:
    idle = Idle(
        {"web": Memory(megabytes, {}, [megabytes])}, {"web": percent}, transactions_per_s=1.0
    )

    assert len(idle.broken()) == broken


def test_broken_promise_is_reported_next_to_the_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Outcome([("head",)], {"rate": 5}, failures=["5/s, at least 6/s"]).show()

    assert capsys.readouterr().out.splitlines() == [
        "head",
        "FAILS: 5/s, at least 6/s",
        '{"rate": 5}',
    ]
