"""Gauges of deliveries."""

from datetime import datetime

from django.conf import settings

from core.measures.gauges import Gauges, gauge, gauge_by, gauges, seconds_since
from deliveries.engine import holding, leases
from deliveries.engine.slots import SLOTS
from deliveries.monitoring import backlog
from deliveries.upkeep import partitions, replaying
from webhooks.models import Webhook


@gauges
def of_deliveries(now: datetime) -> Gauges:
    waiting, oldest = backlog.count_waiting(), backlog.oldest_due_by_kind()
    yield gauge("deliveries_waiting", "Deliveries not finished (an estimate)", waiting)
    yield gauge_by(
        "kind",
        "deliveries_waiting_by_kind",
        "The same by what they wait for (from a sample, above 10,000)",
        backlog.count_waiting_by_kind(waiting),
    )
    yield gauge(
        "delivery_oldest_due_seconds",
        "Age of the oldest due delivery, without failing webhooks",
        seconds_since(now, min(filter(None, oldest), default=None)),
    )
    yield gauge_by(
        "kind",
        "delivery_oldest_due_by_kind_seconds",
        "The same of first attempts and of retries",
        {kind: seconds_since(now, since) for kind, since in oldest._asdict().items()},
    )
    sent_to = Webhook.objects.present().filter(active=True).exclude(url="").count()
    yield gauge("webhooks", "Webhooks that are sent to: active, with a URL", sent_to)
    failing, resting = backlog.count_unwell()
    text = "Webhooks with something waiting that failed three times or more since they last did not"
    yield gauge("webhooks_failing", text, failing)
    yield gauge("webhooks_resting", "Webhooks paused between probes after failures", resting)


@gauges
def of_engine(now: datetime) -> Gauges:
    running = leases.running_loops()
    yield gauge("engine_loops", "Engine loops alive, of all hosts", running.loops)
    yield gauge("engine_loops_wanted", "DELIVERY_LOOPS", settings.DELIVERY_LOOPS)
    yield gauge("engine_slots", "Requests that they may have in flight", running.loops * SLOTS)
    yield gauge("engine_slots_busy", "Requests that they had in flight lately", running.busy)


@gauges
def of_scheduler(now: datetime) -> Gauges:
    if pulse := backlog.last_pulse():
        since = (now - pulse).total_seconds()
        yield gauge("scheduler_age_seconds", "Seconds since a scheduler last began a sweep", since)


@gauges
def of_operators(now: datetime) -> Gauges:
    """Yield how long drains, holds and stalled replays have lasted."""
    drain = holding.current_drain()
    holds = holding.held_hosts()
    yield gauge(
        "draining_seconds",
        "Seconds since an operator ran drain; 0 where none did",
        seconds_since(now, drain.since if drain else None),
    )
    yield gauge(
        "host_held_seconds",
        "For how long the host is held that an operator holds longest; 0 where none is",
        seconds_since(now, holds[0].held_at if holds else None),
    )
    yield gauge(
        "replay_still_seconds",
        "Seconds since the run of deliveries sent again moved that stands still longest; 0: none",
        # A run is meant to stand still during a drain.
        seconds_since(now, None if drain else replaying.still_since()),
    )


@gauges
def of_partitions(now: datetime) -> Gauges:
    states = partitions.partition_states()
    yield gauge_by(
        "table",
        "partition_weeks_ahead",
        "Whole weeks after this one that the table has partitions for",
        {state.table: state.weeks_ahead for state in states},
    )
    yield gauge_by(
        "table",
        "partition_rest_occupied",
        "1 while rows lie in the table's default partition",
        {state.table: state.has_rest for state in states},
    )
