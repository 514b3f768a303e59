"""Automatic assignment of tickets to the least busy agent (decision T18)."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet

from core.data import statements
from core.data.compiled_queries import CompiledQuery, Slot
from core.jobs.failing_rows import FailingRows
from core.measures import catalogue, counting
from tickets.assignment.loads import sum_up_later
from tickets.assignment.picking import AgentLoad, loads_for_history, pick
from tickets.changes.actors import SYSTEM
from tickets.changes.history import record_history
from tickets.history_codes import Kind, NotAssigned, Rule
from tickets.models import Agent, Ticket
from tickets.models.agents import AgentQuerySet, ticket_load, tickets_of_inactive_agents

logger = logging.getLogger(__name__)

LOCK_TIMEOUT = "2s"
MOST_AT_ONCE = 500


class LeastBusy(NamedTuple):
    """Agent who gets a ticket, or why nobody does, and the loads compared, for history."""

    choice: AgentLoad | NotAssigned
    loads: dict[str, list[int]]


def assign(ticket: Ticket, *, say_failure: bool = True, excluding: int | None = None) -> bool:
    """Assign a new or waiting ticket to the least busy agent; returns whether there was one.

    `excluding` is the id of an agent to pass over. Call it last in a transaction, as all other
    assignments wait until it ends. If the agents cannot be locked in time, the ticket is left to
    `assign_waiting` instead of failing the caller. Raises OperationalError if the connection to
    the database is lost.
    """
    choice, loads = give_to_least_busy(ticket, excluding)
    if isinstance(choice, AgentLoad):
        facts = {"agent": [None, choice.name], "rule": Rule.LEAST_BUSY.value, "loads": loads}
        record_history(ticket, SYSTEM, Kind.ASSIGNED, data=facts)
        return True
    if say_failure:
        facts = {"why": choice.value, "loads": loads}
        record_history(ticket, SYSTEM, Kind.UNASSIGNED, data=facts)
    return False


def give_to_least_busy(ticket: Ticket, excluding: int | None) -> LeastBusy:
    """Assign a ticket like `assign`, but without its history, which the caller writes.

    If there is no agent for it, the ticket stays where it is.
    """
    try:
        with transaction.atomic():
            result = choose(ticket.type_id, excluding)
            if isinstance(result.choice, AgentLoad):
                assign_to(ticket, result.choice)
        count_attempt(result.choice)
        return result
    except OperationalError as error:
        if connection.needs_rollback:
            # The connection is lost, and with it the caller's transaction.
            raise
        count_attempt(NotAssigned.LOCK_TIMEOUT)
        text = "ticket %s stays where it is: %s"
        logger.warning(text, ticket.pk, error, extra={"ticket_id": ticket.pk})
        return LeastBusy(NotAssigned.LOCK_TIMEOUT, {})


def count_attempt(choice: AgentLoad | NotAssigned) -> None:
    outcome = choice.value if isinstance(choice, NotAssigned) else "assigned"
    counting.count(catalogue.ASSIGNMENTS, outcome)


def choose(type_id: int, excluding: int | None = None) -> LeastBusy:
    """Lock all agents who take the type, then compare their loads. Requires READ COMMITTED."""
    pool = lock_agents(type_id)
    # A separate statement, so that it sees what previous lock holders have committed.
    candidates = [AgentLoad(*row) for row in LOADS.fetch(pool=pool, excluding=excluding or 0)]
    loads = loads_for_history(candidates)
    if not candidates:
        return LeastBusy(NotAssigned.NOBODY_AVAILABLE, loads)
    return LeastBusy(pick(candidates) or NotAssigned.ALL_AT_CAPACITY, loads)


def lock_agents(type_id: int) -> list[int]:
    return [agent_id for (agent_id,) in POOL.fetch(type_id=type_id, timeout=LOCK_TIMEOUT)]


def candidates_query(type_id: Slot, timeout: Slot) -> QuerySet[Agent, tuple[Any, ...]]:
    # Lock all agents in one order. A transaction that waited for one agent only could read loads
    # before another commits; different orders could deadlock.
    agents = Agent.objects.taking(type_id).alias(timeout=timeout).filter(timeout__isnull=False)
    locked = agents.order_by("pk").select_for_update(of=("self",), no_key=True)
    return locked.values_list("pk")


def loads_query(pool: Slot, excluding: Slot) -> QuerySet[Agent, tuple[Any, ...]]:
    return agent_load_fields(Agent.objects.at_work().filter(pk__in=pool).exclude(pk=excluding))


def agent_load_fields(agents: AgentQuerySet) -> QuerySet[Agent, tuple[Any, ...]]:
    """Select the fields of an AgentLoad for each agent."""
    return agents.annotate(load=ticket_load()).values_list(
        "pk", "user__username", "load", "capacity", "last_assigned_at"
    )


POOL = CompiledQuery(
    candidates_query,
    type_id="{}::integer",
    # Takes effect before the first row is locked, and ends with the transaction.
    timeout="(SELECT set_config('lock_timeout', {}, true))",
)
LOADS = CompiledQuery(loads_query, pool="SELECT unnest({}::bigint[])", excluding="{}::bigint")


# clock_timestamp() instead of now(): the transaction may have waited for the locks.
GIVE = """
WITH given AS (UPDATE tickets_ticket SET agent_id = %(agent)s WHERE id = %(ticket)s)
UPDATE tickets_agent SET last_assigned_at = clock_timestamp() WHERE id = %(agent)s
"""


def assign_to(ticket: Ticket, to: AgentLoad) -> None:
    ticket.agent_id = to.agent_id
    statements.fetch_rows(GIVE, {"agent": to.agent_id, "ticket": ticket.pk})
    sum_up_later(ticket.pk)


def has_waiting() -> bool:
    """Return whether a ticket waits for an agent, or its agent has left."""
    return Ticket.objects.waiting().unawaited().exists() or tickets_of_inactive_agents().exists()


def assign_waiting() -> int:
    """Assign waiting tickets, the most urgent first; returns the number assigned.

    Uses a transaction per ticket to keep locks short, and may run concurrently. A ticket that
    fails is skipped until the next run.
    """
    rows = FailingRows("assign_waiting")
    assigned = take_back(rows)
    hopeless: set[int] = set()
    failed: set[int] = set()
    while assigned < MOST_AT_ONCE:
        unassigned = Ticket.objects.waiting().unawaited()
        waiting = unassigned.exclude(type__in=hopeless).exclude(pk__in=failed)
        with transaction.atomic(durable=True):
            ticket = waiting.urgent_first().select_for_update(skip_locked=True, no_key=True).first()
            if ticket is None:
                return assigned
            results: list[bool] = []
            rows.do("ticket", [ticket.pk], partial(assign_apart, ticket, results))
            if not results:
                failed.add(ticket.pk)
            elif results[0]:
                assigned += 1
            else:
                hopeless.add(ticket.type_id)
    return assigned


def take_back(rows: FailingRows) -> int:
    """Reassign tickets of deactivated agents; returns the number assigned, the others wait.

    A ticket that waits for its company stays until the company answers (decision N27).
    """
    assigned = 0

    def take(ticket_ids: Sequence[int]) -> None:
        nonlocal assigned
        assigned += sum(map(take_one_back, ticket_ids))

    for ticket in rows.first(tickets_of_inactive_agents().only("pk"), MOST_AT_ONCE):
        rows.do("ticket", [ticket.pk], take)
    return assigned


def take_one_back(ticket_id: int) -> bool:
    ticket = Ticket.objects.hold(ticket_id)
    former = ticket.agent
    if former is None or former.user.is_active:
        return False
    if not Ticket.objects.needing_agent().filter(pk=ticket_id).exists():
        return False
    ticket.agent = None
    ticket.version += 1
    ticket.save(update_fields=["agent", "version"])
    facts = {"agent": [str(former), None], "rule": Rule.LEAST_BUSY.value}
    record_history(ticket, SYSTEM, Kind.REASSIGNED, data=facts)
    return assign(ticket)


def assign_apart(ticket: Ticket, results: list[bool], _: object) -> None:
    results.append(assign(ticket, say_failure=False))
