"""Indexes over open tickets: small, used, and not rebuilt for another open status."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from desk.queue.queues import QUEUES
from desk.reports import counting
from desk.reports.counting import DIMENSIONS, Scope
from desk.reports.figures import days_up_to_today
from desk.reports.measures import OF_OPEN
from tests import builders as build
from tests.plans import offer_only
from tickets.models import Agent, Appeal, Ticket
from tickets.statuses import OPEN, TERMINAL, Status

# One open ticket in twenty has no agent, except those that wait for the company.
TICKETS = """
INSERT INTO tickets_ticket (company_id, type_id, status, comments, agent_id, carrier_name, due_at,
  version, created_at, updated_at, clock_digest)
SELECT %(company)s, 3 + number %% 3, status, '', CASE WHEN number %% 20 > 0 OR status = 4
    THEN (%(agents)s::bigint[])[1 + number %% array_length(%(agents)s::bigint[], 1)] END,
  'acme', now() + number * interval '1 minute', 1, now() - number * interval '1 minute', now(), 0
FROM (
  SELECT number, CASE WHEN number > %(open)s THEN 2 + number %% 2
    ELSE (%(statuses)s::int[])[1 + number / 3 %% array_length(%(statuses)s::int[], 1)] END AS status
  FROM generate_series(1, %(all)s) AS number
) AS made
"""
OPEN_ONES, ALL_OF_THEM = 2_000, 12_000
OVER_OPEN = {
    "ticket_unassigned",
    "ticket_agent_due",
    "ticket_all_open",
    "ticket_open_newest",
    "ticket_open_due",
    "ticket_open_filing",
    "ticket_open_figures",
    "ticket_claims_to_file",
    "ticket_silent",
    "ticket_escalated",
}


@pytest.fixture
def tickets(company: Company, agent: Agent) -> None:
    """Create many decided tickets and fewer open ones, with statistics for the planner."""
    agents = [agent, *(build.agent(f"agent-{number}") for number in range(39))]
    values = {
        "company": company.pk,
        "agents": [one.pk for one in agents],
        "statuses": [status.value for status in sorted(OPEN)],
        "open": OPEN_ONES,
        "all": ALL_OF_THEM,
    }
    with connection.cursor() as cursor:
        # Skip the triggers: their derived tables do not matter here.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(TICKETS, values)
        cursor.execute("SET LOCAL session_replication_role = origin")
        # Rebuild indexes: the planner goes by their sizes, and rows of other tests have left bloat.
        cursor.execute("REINDEX TABLE tickets_ticket")
        cursor.execute("ANALYZE tickets_ticket, tickets_agent, auth_user")


def scans(plan: dict[str, Any]) -> Iterator[str]:
    """Yield indexes and tables that a plan reads, except tables read through an index."""
    if "Index Name" in plan or (
        "Relation Name" in plan and plan["Node Type"] != "Bitmap Heap Scan"
    ):
        yield plan.get("Index Name", plan.get("Relation Name"))
    for part in plan.get("Plans", []):
        yield from scans(part)


def read(sql: str, params: Any = ()) -> set[str]:
    """Return the indexes and tables of tickets that a statement reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        (answer,) = cursor.fetchone()
    plan = json.loads(answer) if isinstance(answer, str) else answer
    scanned = scans(plan[0]["Plan"])
    return {one for one in scanned if one.startswith("ticket_") or one == "tickets_ticket"}


def read_for(tickets: QuerySet[Any]) -> set[str]:
    return read(*tickets.query.sql_with_params())


def statuses_of(condition: Q | None) -> set[int]:
    """Return the statuses that a condition names."""
    if condition is None:
        return set()
    numbers: set[int] = set()
    for each in condition.children:
        if isinstance(each, Q):
            numbers |= statuses_of(each)
        elif each[0].startswith("status"):
            numbers |= set(each[1])
    return numbers


def test_no_condition_names_an_open_status() -> None:
    """Such an index would be rebuilt over all tickets for another open status."""
    statuses = {index.name: statuses_of(index.condition) for index in Ticket._meta.indexes}

    assert {name for name, values_of in statuses.items() if values_of == TERMINAL} == OVER_OPEN
    assert {name for name, values_of in statuses.items() if values_of & OPEN} == set()


@pytest.mark.usefixtures("tickets")
@pytest.mark.parametrize("ordered", [False, True])
def test_the_queues_read_only_open_tickets(agent: Agent, ordered: bool) -> None:
    queues = [queue for queue in QUEUES if queue.small and queue.slug != "appeals"]
    rows = {queue.slug: queue.narrow(Ticket.objects.all(), agent.pk) for queue in queues}
    if ordered:
        rows = {queue.slug: rows[queue.slug].order_by(*queue.order)[:25] for queue in queues}

    read = {slug: read_for(tickets.values("pk")) for slug, tickets in rows.items()}

    assert len(read) == 11
    assert {slug: names for slug, names in read.items() if not names or names - OVER_OPEN} == {}


@pytest.mark.usefixtures("tickets")
@pytest.mark.parametrize("ordered", [False, True])
def test_the_queue_of_appeals_reads_those_that_wait_and_their_tickets(ordered: bool) -> None:
    """Look tickets up by id: they are decided ones, whose number is unbounded."""
    declined = Ticket.objects.filter(status=Status.DECLINED)[:2]
    now = timezone.now()
    for each in declined:
        Appeal.objects.create(ticket=each, declined_at=now, comment="x", created_at=now)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tickets_appeal")
    (queue,) = (queue for queue in QUEUES if queue.slug == "appeals")
    appeals = queue.narrow(Ticket.objects.all(), None)
    if ordered:
        appeals = appeals.order_by(*queue.order)[:25]

    assert read_for(appeals.values("pk")) == set()


@pytest.mark.usefixtures("tickets")
def test_claims_to_file_are_read_in_the_order_of_their_money() -> None:
    """Avoid a sort: a page costs only its rows, however many claims there are."""
    statement = (
        "UPDATE tickets_ticket SET filing_due_at = due_at, currency = 'EUR',"
        " amount_claimed = CASE WHEN id %% 3 > 0 THEN id %% 997 END"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [])
        cursor.execute("ANALYZE tickets_ticket")
    (queue,) = (queue for queue in QUEUES if queue.slug == "to-file")
    claims = queue.narrow(Ticket.objects.all(), None).order_by(*queue.order)[:25]

    assert read_for(claims.values("pk")) == {"ticket_claims_to_file"}


@pytest.mark.usefixtures("tickets")
def test_assignment_and_figures_read_only_open_tickets() -> None:
    with CaptureQueriesContext(connection) as queries:
        counting.count(Scope(days_up_to_today(7)), OF_OPEN, (*DIMENSIONS, "age"))
    loads = Agent.objects.with_loads().values_list("pk", "load")
    waiting = Ticket.objects.waiting().exclude(type__in=[4])

    assert read_for(waiting) <= OVER_OPEN
    assert read_for(loads) == set()
    assert read(queries.captured_queries[0]["sql"]) <= OVER_OPEN
    offer_only("ticket_unassigned")
    assert read_for(waiting) == {"ticket_unassigned"}


@pytest.mark.usefixtures("tickets")
def test_what_waits_for_its_company_costs_nothing_where_agents_are_found() -> None:
    """Skip Incomplete tickets without an agent: their number is unbounded."""
    newest = Ticket.objects.order_by("-pk").values("pk")[:2]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        Ticket.objects.update(status=Status.INCOMPLETE, agent=None)
        Ticket.objects.filter(pk__in=newest).update(company_spoke_last=True)
        cursor.execute("REINDEX TABLE tickets_ticket")
        cursor.execute("ANALYZE tickets_ticket")
    offer_only("ticket_unassigned")
    sql, params = Ticket.objects.waiting().values("pk").query.sql_with_params()

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
        (answer,) = cursor.fetchone()

    plan = json.dumps(answer)
    assert re.findall(r'"Actual Rows": (\d+)', plan)[0] == "2"
    assert set(re.findall(r'"Rows Removed by [a-zA-Z ]+": (\d+)', plan)) <= {"0"}
    assert "SubPlan" not in plan


def test_open_means_the_same_to_python_and_to_the_database(company: Company) -> None:
    tickets = {one: build.ticket(company, status=one).pk for one in (*OPEN, *TERMINAL)}

    assert set(Ticket.objects.open().values_list("pk", flat=True)) == {tickets[one] for one in OPEN}
