"""Promises that neighbours, latency and lanes of tools/bench judge, in small: counts, ratios."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from deliveries.monitoring import backlog
from tests.bench.conftest import measured
from tests.walks.conftest import SHORT_LEASE
from tools.bench import waiting_webhooks
from tools.bench.explain import plan
from tools.bench.rig import Rig

pytestmark = pytest.mark.django_db(transaction=True)

# For so long a receiver that says nothing holds a slot.
TIMEOUT_MS = 1000 * float(SHORT_LEASE["DELIVERY_TIMEOUT_SECONDS"])
# More than a fixed, modest number of requests at once to one receiver.
MANY = 128


@pytest.mark.slow
def test_slots_are_shared_by_time(rig: Rig) -> None:
    """One test, since most of its time goes into starting the worker."""
    beside = measured(rig, "neighbours --only fallen --scale 0.15 --seconds 2 --warm-up 0")
    latency = measured(
        rig,
        "latency --waiting 4000 --ms 200 --webhooks 1 --workers 1 --busy-ms 100"
        " --small-waiting 500 --seconds 3",
    )

    assert [*beside.troubles, *latency.troubles] == []

    # A healthy company's events do not wait until a silent neighbour's time is over.
    (row,) = beside.figures["rows"]
    assert row["alone"]["arrived"] == row["alone"]["due"] == 80
    assert row["beside"]["arrived"] == row["beside"]["due"]
    assert row["beside"]["p99_ms"] < TIMEOUT_MS / 2

    # A receiver that only takes its time gets many requests at once, a small server few.
    (pace,) = latency.figures["paces"]
    assert 0 < pace["answered"] <= 4000
    assert pace["most_in_flight"] > MANY
    (small,) = latency.figures["small"]
    assert small["capacity_per_s"] == 10.0
    assert 0 < small["attempts"] <= 500
    assert small["share_of_timeouts"] <= 0.05
    assert small["share_of_capacity"] > 0.5


def test_webhooks_with_nothing_due_cost_nothing(rows_to_keep: None, loopback: object) -> None:
    waiting_webhooks.make(500)
    few = pages_read()

    waiting_webhooks.make(9500)

    # A tree that is deeper, and no more: not a page for every so many webhooks.
    assert pages_read() <= few + 10


def pages_read() -> int:
    """By the question for what has been due for longest, which the probes ask."""
    with CaptureQueriesContext(connection) as asked:
        backlog.oldest_due()
    statements = [each["sql"] for each in asked.captured_queries]
    plans = "\n".join(plan(each, None) for each in statements if "SELECT" in each)
    found = re.findall(r"Buffers: shared hit=(\d+)(?: read=(\d+))?", plans)
    # The first line of a plan counts for all that is below it.
    hit, read = found[0]
    return int(hit) + int(read or 0)
