"""Heartbeats of engine loops, apart from the loops that each claim reads."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from companies.models import Company
from deliveries import publishing, statements
from deliveries.engine import claiming, lanes, leases
from deliveries.engine.fronts import BEGINNING
from deliveries.models import Heartbeat, Loop
from tests import builders as build
from tests.sending import pages_read, taking

pytestmark = pytest.mark.django_db


def version_of_the_loop() -> str:
    """Return what changes with each write of the loop's row, even in one transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid::text FROM deliveries_loop")
        return str(cursor.fetchone()[0])


def test_loop_has_a_heartbeat_until_it_ends_or_is_lost() -> None:
    lost, ended, alive = (str(leases.join(3)) for _ in range(3))
    assert leases.join(3) is None
    assert Heartbeat.objects.count() == 3

    Heartbeat.objects.filter(pk=lost).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.take_over() == [lost]
    leases.leave(ended)

    assert [str(each.pk) for each in Heartbeat.objects.all()] == [alive]
    assert {str(each.pk): each.lost for each in Loop.objects.all()} == {lost: True, alive: False}
    assert leases.renew(lost) is None
    assert Loop.objects.get(lost=True).lost_at is not None


def test_heartbeat_writes_the_loop_only_when_it_begins_to_stop() -> None:
    loop = str(leases.join(1))
    before = version_of_the_loop()
    leases.renew(loop, busy=7)
    assert version_of_the_loop() == before

    leases.renew(loop, stops=True)
    stopping = version_of_the_loop()
    leases.renew(loop, stops=True)

    assert stopping != before
    assert version_of_the_loop() == stopping
    assert not Loop.objects.get().takes_lanes
    assert Heartbeat.objects.get().busy == 0


def test_claims_do_not_read_what_heartbeats_leave_behind(company: Company) -> None:
    """Read nothing of it: here too an open transaction, this test's, keeps every version."""
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    loop = str(leases.join(1))
    statements.settle_plans(transaction_only=True)
    reads = [
        (lanes.TAKE, taking(loop)),
        (claiming.CLAIM, claiming.parameters(loop, {webhook.pk: 1})),
    ]
    for statement, values in reads:
        pages_read(statement, values)
    before = [pages_read(statement, values) for statement, values in reads]

    for _ in range(1000):
        leases.renew(loop)

    after = [pages_read(statement, values) for statement, values in reads]
    assert all(now <= then + 2 for now, then in zip(after, before, strict=True)), (before, after)


@pytest.mark.parametrize("table", ["deliveries_heartbeat", "deliveries_loop"])
def test_heartbeat_finds_its_rows_by_their_keys(table: str) -> None:
    loop = str(leases.join(1))
    statements.settle_plans(transaction_only=True)
    state = {"busy": 0, "proxy_trouble": "", "stops": False, "lease": 4.0}
    state |= {"since": BEGINNING, "front": None}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {leases.RENEW}", {"loop": loop, **state})
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert f"Index Scan using {table}_pkey on {table}" in plan, plan
