"""Promises that neighbours, latency and lanes of tools/bench judge, in small: counts and ratios."""

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

# A receiver that says nothing holds a slot for this long.
TIMEOUT_MS = 1000 * float(SHORT_LEASE["DELIVERY_TIMEOUT_SECONDS"])
# More than a fixed, modest number of requests at once to one receiver.
MANY = 128


@pytest.mark.slow
def test_slots_are_shared_by_time(rig: Rig) -> None:
    """Check everything in one test, since most of its time goes into starting the worker."""
    beside = measured(rig, "neighbours --only fallen --scale 0.15 --seconds 2 --warm-up 0")
    latency = measured(
        rig,
        "latency --waiting 4000 --ms 200 --webhooks 1 --workers 1 --busy-ms 100"
        " --small-waiting 500 --seconds 3",
    )

    assert [*beside.troubles, *latency.troubles] == []

    # Events of a healthy company do not wait until a silent neighbour times out.
    (row,) = beside.figures["rows"]
    assert row["alone"]["arrived"] == row["alone"]["due"] == 80
    assert row["beside"]["arrived"] == row["beside"]["due"]
    assert row["beside"]["p99_ms"] < TIMEOUT_MS / 2

    # A slow but healthy receiver gets many requests at once, a small server few.
    (pace,) = latency.figures["paces"]
    assert 0 < pace["answered"] <= 4000
    assert pace["most_in_flight"] > MANY
    (small,) = latency.figures["small"]
    assert small["capacity_per_s"] == 10.0
    assert 0 < small["attempts"] <= 500
    assert small["share_of_timeouts"] <= 0.05
    assert small["share_of_capacity"] > 0.5


@pytest.mark.slow
def test_webhooks_with_nothing_due_cost_nothing(rows_to_keep: None, loopback: object) -> None:
    waiting_webhooks.make(500)
    few = pages_read()

    waiting_webhooks.make(9500)

    # A deeper tree adds a few pages, but there is no page for every N webhooks.
    assert pages_read() <= few + 10


def pages_read() -> int:
    """Count the pages that the probes' query for the oldest due delivery reads."""
    with CaptureQueriesContext(connection) as queries:
        backlog.oldest_due()
    statements = [each["sql"] for each in queries.captured_queries]
    plans = "\n".join(plan(each, None) for each in statements if "SELECT" in each)
    page_counts = re.findall(r"Buffers: shared hit=(\d+)(?: read=(\d+))?", plans)
    # The first line of a plan includes everything below it.
    hit, read = page_counts[0]
    return int(hit) + int(read or 0)
