"""Metrics of finished attempts, a batch at a time. Pure except for the process's counts."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from core.measures import counting
from core.measures.catalogue import (
    ATTEMPT_DURATION,
    DELIVERIES_FINISHED,
    DELIVERY_ATTEMPTS,
    DELIVERY_LATENCY,
)
from core.measures.counting import Labels, Series, TimeMeasure
from deliveries.engine.recording import AttemptResult
from deliveries.models import State

# Looked up once: access to a member of an enum takes longer than the comparison.
DELIVERED, GIVEN_UP = State.DELIVERED, State.GIVEN_UP

Sums = defaultdict[Series, float]


def tally_attempts(results: Sequence[AttemptResult]) -> None:
    """Count attempts, finished deliveries, durations and latencies, with little work for each."""
    sums: Sums = defaultdict(float)
    delivered = [result for result in results if result.state == DELIVERED]
    failed = [result for result in results if result.state != DELIVERED]
    if delivered:
        sums[DELIVERY_ATTEMPTS.name, ("delivered", "")] += len(delivered)
        sums[DELIVERIES_FINISHED.name, ("delivered",)] += len(delivered)
    for error, number in Counter(map(error_class, failed)).items():
        sums[DELIVERY_ATTEMPTS.name, ("failed", error)] += number
    if given_up := sum(result.state == GIVEN_UP for result in failed):
        sums[DELIVERIES_FINISHED.name, ("given_up",)] += given_up
    for outcome, group in (("delivered", delivered), ("failed", failed)):
        durations = [result.duration_ms / 1000 for result in group]
        tally_times(sums, ATTEMPT_DURATION, durations, (outcome,))
    at_first = (result for result in delivered if result.number == 1)
    tally_times(sums, DELIVERY_LATENCY, map(latency_of, at_first))
    counting.pending.add(sums)


def tally_times(sums: Sums, kind: TimeMeasure, times: Iterable[float], labels: Labels = ()) -> None:
    """Add times to a histogram, like `counting.count_time` for each of them."""
    ordered = sorted(times)
    if not ordered:
        return
    below = 0
    for bound in (*kind.bounds, None):
        upto = len(ordered) if bound is None else bisect_right(ordered, bound)
        if upto > below:
            sums[kind.bucket(bound, labels)] += upto - below
        below = upto
        if below == len(ordered):
            break
    sums[kind.sum_name, labels] += max(0.0, sum(ordered))


def latency_of(result: AttemptResult) -> float:
    """Return the seconds since the delivery was written, as its id tells (`deliveries_uuid`)."""
    written_ms = int(result.delivery_id[:8] + result.delivery_id[9:13], 16)
    return result.started_at.timestamp() + (result.duration_ms - written_ms) / 1000


def error_class(result: AttemptResult) -> str:
    """Return `http_4xx` and the like, or the failure of deliveries.http without a response."""
    return result.error if result.status is None else f"http_{result.status // 100}xx"
