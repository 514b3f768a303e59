"""Locks whose key a caller can influence conflict only within one company."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from companies.models import Company, KeptAnswer
from core.data import locks
from deliveries import publishing
from shipments.locks import hold_shipments
from tests import builders as build
from tests.test_architecture import LINE, ROOT, sources
from tests.tickets.racing import unfinished
from tickets.models import Ticket

LOCKED = """
SELECT classid::bigint, objid::bigint, objsubid FROM pg_locks
WHERE locktype = 'advisory' AND pid = pg_backend_pid()
"""
TICKET = {"type_id": 2, "comments": "Once, please"}


def execute(statement: str, *values: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def post(api: APIClient, key: str) -> int:
    answer = api.post("/company/tickets", TICKET, headers={"Idempotency-Key": key})
    return answer.status_code


def test_every_advisory_lock_stands_in_one_module_or_is_the_fence() -> None:
    calls = {
        path.relative_to(ROOT).as_posix(): matches
        for app in LINE
        for path in sources(app)
        if (matches := re.findall(r"pg_\w*advisory\w*\([^,)]*", path.read_text()))
    }
    assert calls == {
        "core/data/locks.py": [
            "pg_advisory_xact_lock(first",
            "pg_try_advisory_xact_lock((-1 - %s %% 2147483648",
            "pg_advisory_xact_lock(%s",
        ],
        "deliveries/publishing.py": [
            "pg_advisory_xact_lock_shared({LOCK_TAG}::bigint << 48 | number"
        ],
    }
    assert all(0 < each < locks.SHIPMENTS_FROM for each in locks.LockClass)
    assert publishing.LOCK_TAG not in set(locks.LockClass)


@pytest.mark.usefixtures("rows_to_keep")
def test_locks_with_a_callers_part_are_pairs_of_their_companys_own(
    company: Company, birch: Company
) -> None:
    first = {}
    for each in (company, birch):
        with transaction.atomic():
            assert locks.try_key(each.pk, "order-1")
            (key,) = execute(LOCKED)
        with transaction.atomic():
            hold_shipments([(each.pk, 7), (each.pk, 2**63 - 1), (each.pk, 7)])
            shipments = execute(LOCKED)
        assert {subid for *_, subid in [key, *shipments]} == {2}
        assert len(shipments) == 2
        first[each.pk] = key[0], shipments[0][0]
    assert len({number for pair in first.values() for number in pair}) == 4
    assert all(
        key >= 2**31 and locks.SHIPMENTS_FROM <= shipment < 2**31
        for key, shipment in first.values()
    )


@pytest.mark.usefixtures("rows_to_keep")
def test_a_running_key_refuses_its_own_company_alone(
    api: APIClient, birch_api: APIClient, company: Company
) -> None:
    with unfinished(lambda: locks.try_key(company.pk, "order-1")):
        assert post(api, "order-1") == 409
        assert post(api, "order-2") == 200
        assert post(birch_api, "order-1") == 200
    assert post(api, "order-1") == 200
    assert Ticket.objects.count() == 3


@pytest.mark.usefixtures("rows_to_keep")
def test_nothing_is_done_twice_where_the_first_locked_otherwise(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Play an upgrade, during which a version with other locks runs next to this one."""
    real = KeptAnswer.objects.create

    def beaten(**columns: object) -> KeptAnswer:
        # The other version's row is there first: it began before, and has committed.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store_elsewhere, real, columns).result()
        return real(**columns)

    monkeypatch.setattr(KeptAnswer.objects, "create", beaten)

    assert post(api, "order-1") == 409
    assert not Ticket.objects.exists()
    assert post(api, "order-1") == 200
    assert not Ticket.objects.exists()


def store_elsewhere(create: Callable[..., KeptAnswer], columns: dict[str, object]) -> None:
    try:
        create(**columns)
    finally:
        connection.close()


@pytest.mark.usefixtures("rows_to_keep")
def test_locks_that_are_no_publishers_hold_up_no_stream(company: Company) -> None:
    build.webhook(company, url="")
    publishing.publish([build.news(company) for _ in range(3)])
    newest = publishing.newest_number()
    fence = "SELECT pg_{}(({}::bigint << 48) | 1)::text"

    with unfinished(lambda: execute(fence.format("advisory_xact_lock", publishing.LOCK_TAG))):
        assert publishing.settled_number() == newest
    shared = fence.format("advisory_xact_lock_shared", publishing.LOCK_TAG)
    with unfinished(lambda: execute(shared)):
        assert publishing.settled_number() == 1
