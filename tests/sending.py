"""The engine in a test: one loop, in the test's own thread and transaction."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import connection
from django.db.models import F
from django.utils import timezone

from core.jobs.bell import Bell
from deliveries.engine import claiming, lanes, leases, rendering
from deliveries.engine.fronts import BEGINNING
from deliveries.engine.loans import Claimed
from deliveries.engine.loop import Engine
from deliveries.engine.runner import Runner
from deliveries.engine.slots import SLOTS
from deliveries.http.transport import Transport
from deliveries.models import Delivery, Health, Loop, Wakeup
from webhooks.models import Webhook
from webhooks.targets import Policy


def engine(transport: Transport, stop: Callable[[], bool] = lambda: False) -> Engine:
    return Engine(transport, stop, Runner(), Bell())


def deliver(policy: Policy, **options: Any) -> int:
    """Send until nothing is due; returns the number of recorded attempts."""
    with closing(Transport(policy, concurrency=SLOTS, **options)) as transport:
        return engine(transport).run(until_idle=True)


def make_due() -> None:
    """Make all waiting deliveries due now."""
    Delivery.objects.open().update(due_at=timezone.now() - timedelta(seconds=1))
    Health.objects.update(resting_until=None)
    wake_all()


def pass_time(span: timedelta) -> None:
    """Move all times of waiting deliveries into the past, as if `span` had passed."""
    waits = ("due_at", "own_due_at", "asked_until", "first_attempt_at")
    Delivery.objects.open().update(**{name: F(name) - span for name in waits})
    rests = ("failing_since", "resting_until", "asked_until")
    Health.objects.update(**{name: F(name) - span for name in rests})
    Wakeup.objects.update(due_at=F("due_at") - span)


def wake_all() -> None:
    """Wake all webhooks, because rows changed in SQL have no wake-up."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM deliveries_wakeup")
    Wakeup.objects.bulk_create(
        Wakeup(webhook_id=webhook_id, due_at=now)
        for webhook_id in Webhook.objects.values_list("pk", flat=True)
    )


def loop_id() -> str:
    """Return the only loop of this test."""
    running = Loop.objects.filter(lost=False).first()
    return str(running.pk) if running else str(leases.join(1))


def claim(room: int = 100) -> list[Claimed]:
    """Claim as a loop in quarantine that works on every webhook that may be sent to."""
    ready = rendering.addresses(list(Webhook.objects.values_list("pk", flat=True)))
    return claiming.claim(loop_id(), dict.fromkeys(ready, room), suspects=room).claimed


def taking(loop: str, since: datetime = BEGINNING) -> dict[str, Any]:
    """Return parameters of TAKE."""
    return {"loop": loop, "most": 10, "leave": 0.0, "since": since, **lanes.SIZES}


def pages_read(statement: str, values: dict[str, Any] | list[Any]) -> int:
    """Return how many pages a statement reads, executed with the settings of this connection."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
        plan = cursor.fetchone()[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def on_loan(webhook_id: int, *, step: int = 0) -> Claimed:
    """Build a claimed delivery without a row."""
    return Claimed(
        id=str(uuid4()),
        webhook_id=webhook_id,
        subject_id=None,
        attempts=step,
        step=step,
        crashes=0,
        pulled=False,
        type_id=3,
        body=b"{}",
        fact_id="",
        sequence=1,
        event_id=1,
        request_id=None,
        traceparent=None,
        claim=str(uuid4()),
        claimed_at=0.0,
    )
