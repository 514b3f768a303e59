"""Stored loads of agents: right whoever changes tickets, and constant in cost."""

import logging
from collections import Counter
from functools import partial

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.tickets.racing import racers
from tickets import jobs
from tickets.assignment import loads
from tickets.assignment.automatic import LOADS, POOL
from tickets.models import Agent, LoadChange, Ticket
from tickets.statuses import RUNNING, Status


def stored_loads() -> dict[str, int]:
    return dict(Agent.objects.with_loads().values_list("user__username", "load"))


def counted_loads() -> Counter[str]:
    running = Ticket.objects.running().filter(agent__isnull=False)
    return Counter(running.values_list("agent__user__username", flat=True))


def test_a_load_follows_whatever_is_done_to_tickets(company: Company) -> None:
    ada, bob = build.agent("ada"), build.agent("bob")
    tickets = [build.ticket(company, agent=ada) for _ in range(4)]
    build.ticket(company)
    assert stored_loads() == {"ada": 4, "bob": 0}

    Ticket.objects.filter(pk=tickets[0].pk).update(agent=bob)
    assert stored_loads() == {"ada": 3, "bob": 1}
    Ticket.objects.filter(agent=ada).update(comments="x", status=Status.IN_REVIEW)
    assert stored_loads() == {"ada": 3, "bob": 1}
    Ticket.objects.filter(pk=tickets[1].pk).update(status=Status.ACCEPTED, agent=bob)
    Ticket.objects.filter(pk=tickets[1].pk).update(status=Status.IN_REVIEW)
    assert stored_loads() == {"ada": 2, "bob": 2}
    tickets[2].delete()
    Ticket.objects.filter(pk=tickets[3].pk).update(agent=None)
    assert stored_loads() == {"ada": 0, "bob": 2}


@pytest.mark.parametrize("status", list(Status))
def test_a_load_is_of_tickets_whose_clock_runs(company: Company, status: Status) -> None:
    build.ticket(company, agent=build.agent("ada"), status=status)

    assert stored_loads() == {"ada": int(status in RUNNING)}


def test_rollback_leaves_the_load_unchanged(company: Company) -> None:
    ada = build.agent("ada")
    with transaction.atomic():
        build.ticket(company, agent=ada)
        transaction.set_rollback(True)

    assert stored_loads() == {"ada": 0}


def test_summing_up_leaves_a_row_for_each_agent_and_status(company: Company) -> None:
    ada, bob = build.agent("ada"), build.agent("bob")
    for status in (1, 1, 6, 4):
        build.ticket(company, agent=ada, status=status)
    Ticket.objects.filter(agent=build.ticket(company, agent=bob).agent).update(agent=ada)
    before = stored_loads()

    loads.sum_up()

    assert stored_loads() == before == {"ada": 4, "bob": 0}
    rows = LoadChange.objects.values_list("agent", "status", "change")
    assert sorted(rows) == [(ada.pk, 1, 3), (ada.pk, 4, 1), (ada.pk, 6, 1)]


@pytest.mark.usefixtures("rows_to_keep")
def test_concurrent_summing_up_loses_nothing() -> None:
    acme, agents = build.company(), [build.agent("ada"), build.agent("bob")]
    tickets = [build.ticket(acme, agent=agents[0]).pk for _ in range(8)]

    def move(pk: int) -> None:
        for turn in range(5):
            Ticket.objects.filter(pk=pk).update(agent=agents[(pk + turn) % 2])
            loads.sum_up()

    with racers(8) as together:
        together.run([partial(move, pk) for pk in tickets])
    loads.sum_up()

    assert stored_loads() == {"ada": 0, "bob": 0} | counted_loads()
    assert LoadChange.objects.count() <= 2


def test_drift_of_loads_is_repaired_and_reported(
    company: Company, caplog: pytest.LogCaptureFixture
) -> None:
    ada, bob = build.agent("ada"), build.agent("bob")
    for status in (1, 4, 2):
        build.ticket(company, agent=ada, status=status)
    LoadChange.objects.all().delete()
    LoadChange.objects.create(agent=bob, status=6, change=3)
    assert stored_loads() == {"ada": 0, "bob": 3}

    with caplog.at_level(logging.ERROR, logger=loads.__name__):
        assert jobs.check_loads() == 2

    assert stored_loads() == {"ada": 1, "bob": 0}
    assert [record.getMessage() for record in caplog.records] == [
        f"the load of agent {ada.pk} was wrong by 2 tickets and is mended",
        f"the load of agent {bob.pk} was wrong by 3 tickets and is mended",
    ]
    assert jobs.check_loads() == 0


OPEN_ONES = """
INSERT INTO tickets_ticket (company_id, type_id, status, comments, agent_id, carrier_name,
  version, created_at, updated_at, clock_digest)
SELECT %s, 2, 1, '', %s, '', 1, now(), now(), 0 FROM generate_series(1, %s)
"""


def rows_read(query: str, *values: object) -> int:
    """Return the number of rows of tickets and loads that a statement reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) {query}", values)
        waiting, read = [cursor.fetchone()[0][0]["Plan"]], 0
    while waiting:
        plan = waiting.pop()
        waiting += plan.get("Plans", [])
        if "Relation Name" in plan:
            filtered = plan.get("Rows Removed by Filter", 0)
            read += int((plan["Actual Rows"] + filtered) * plan["Actual Loops"])
    return read


def test_opening_reads_as_much_with_many_open_tickets_as_with_few(
    api: APIClient, company: Company
) -> None:
    agents = [build.agent(f"agent-{number}", capacity=10_000) for number in range(3)]

    def read() -> int:
        loads.sum_up()
        sql, values = LOADS.text or ("", ())
        pool = [one.pk for one in agents]
        filled = {
            slot.mark: {"pool": pool, "excluding": 0}[name] for name, slot in LOADS.slots.items()
        }
        return rows_read(sql, *(filled.get(one, one) for one in values))

    assert api.post("/company/tickets", {"type_id": 2}).status_code == 200
    few = read()
    with connection.cursor() as cursor:
        for agent in agents:
            cursor.execute(OPEN_ONES, [company.pk, agent.pk, 1000])
        cursor.execute("ANALYZE tickets_ticket, tickets_loadchange")
    assert Agent.objects.with_loads().aggregate(all=Sum("load"))["all"] == 3_001

    assert POOL.text
    assert "tickets_ticket" not in POOL.text[0].replace("tickets_tickettype", "")
    # A few rows per agent, whichever plan is used; never one per ticket.
    assert max(few, read()) < 100
