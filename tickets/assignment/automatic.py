"""Who gets a ticket: the least busy of those who may take it (decision T18)."""

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
from tickets.models.agents import AgentQuerySet, left_behind, ticket_load

logger = logging.getLogger(__name__)

LOCK_TIMEOUT = "2s"
MOST_AT_ONCE = 500


class LeastBusy(NamedTuple):
    """Who gets the ticket, or why nobody does, and the loads behind it, for history."""

    found: AgentLoad | NotAssigned
    loads: dict[str, list[int]]


def assign(ticket: Ticket, *, say_failure: bool = True, excluding: int | None = None) -> bool:
    """Assign a new or waiting ticket to the least busy agent; returns whether there was one.

    `excluding` is the id of an agent who does not get it. The last step of its caller's
    transaction, as it makes all other assignments wait. Agents who cannot be locked in time
    leave the ticket to the sweep: that never fails the caller. Raises OperationalError where the
    database is away.
    """
    found, loads = give_to_least_busy(ticket, excluding)
    if isinstance(found, AgentLoad):
        facts = {"agent": [None, found.name], "rule": Rule.LEAST_BUSY.value, "loads": loads}
        record_history(ticket, SYSTEM, Kind.ASSIGNED, data=facts)
        return True
    if say_failure:
        facts = {"why": found.value, "loads": loads}
        record_history(ticket, SYSTEM, Kind.UNASSIGNED, data=facts)
    return False


def give_to_least_busy(ticket: Ticket, excluding: int | None) -> LeastBusy:
    """As `assign`, and the caller writes the history: returns who has the ticket now, if anybody.

    Where nobody is found it stays with whoever has it.
    """
    try:
        with transaction.atomic():
            chosen = choose(ticket.type_id, excluding)
            if isinstance(chosen.found, AgentLoad):
                assign_to(ticket, chosen.found)
        count_try(chosen.found)
        return chosen
    except OperationalError as error:
        if connection.needs_rollback:
            # The connection is lost, and all that its transaction has done.
            raise
        count_try(NotAssigned.LOCK_TIMEOUT)
        text = "ticket %s stays where it is: %s"
        logger.warning(text, ticket.pk, error, extra={"ticket_id": ticket.pk})
        return LeastBusy(NotAssigned.LOCK_TIMEOUT, {})


def count_try(found: AgentLoad | NotAssigned) -> None:
    outcome = found.value if isinstance(found, NotAssigned) else "assigned"
    counting.count(catalogue.ASSIGNMENTS, outcome)


def choose(type_id: int, excluding: int | None = None) -> LeastBusy:
    """Lock all who may take the type, then ask for loads. READ COMMITTED only."""
    pool = lock_agents(type_id)
    # A new statement: it sees what those who held the locks before have committed.
    candidates = [AgentLoad(*row) for row in LOADS.ask(pool=pool, excluding=excluding or 0)]
    loads = loads_for_history(candidates)
    if not candidates:
        return LeastBusy(NotAssigned.NOBODY_AVAILABLE, loads)
    return LeastBusy(pick(candidates) or NotAssigned.ALL_AT_CAPACITY, loads)


def lock_agents(type_id: int) -> list[int]:
    return [agent_id for (agent_id,) in POOL.ask(type_id=type_id, timeout=LOCK_TIMEOUT)]


def candidates_query(type_id: Slot, timeout: Slot) -> QuerySet[Agent, tuple[Any, ...]]:
    # All of them, in one order: who waits for one agent only would then count too early, and
    # two who lock in different orders would wait for each other.
    agents = Agent.objects.taking(type_id).alias(timeout=timeout).filter(timeout__isnull=False)
    locked = agents.order_by("pk").select_for_update(of=("self",), no_key=True)
    return locked.values_list("pk")


def loads_query(pool: Slot, excluding: Slot) -> QuerySet[Agent, tuple[Any, ...]]:
    return agent_load_fields(Agent.objects.at_work().filter(pk__in=pool).exclude(pk=excluding))


def agent_load_fields(agents: AgentQuerySet) -> QuerySet[Agent, tuple[Any, ...]]:
    """The fields of an AgentLoad for each."""
    return agents.annotate(load=ticket_load()).values_list(
        "pk", "user__username", "load", "capacity", "last_assigned_at"
    )


POOL = CompiledQuery(
    candidates_query,
    type_id="{}::integer",
    # Set before the first row is looked at; it ends with the transaction, as the locks do.
    timeout="(SELECT set_config('lock_timeout', {}, true))",
)
LOADS = CompiledQuery(loads_query, pool="SELECT unnest({}::bigint[])", excluding="{}::bigint")


# Not now(), which stands still in a transaction: this one may have waited for the locks.
GIVE = """
WITH given AS (UPDATE tickets_ticket SET agent_id = %(agent)s WHERE id = %(ticket)s)
UPDATE tickets_agent SET last_assigned_at = clock_timestamp() WHERE id = %(agent)s
"""


def assign_to(ticket: Ticket, to: AgentLoad) -> None:
    ticket.agent_id = to.agent_id
    statements.fetch_rows(GIVE, {"agent": to.agent_id, "ticket": ticket.pk})
    sum_up_later(ticket.pk)


def has_waiting() -> bool:
    """Return whether a ticket waits for an agent, or for the other one of one who left."""
    return Ticket.objects.waiting().unawaited().exists() or left_behind().exists()


def assign_waiting() -> int:
    """Find agents for the tickets that wait for one, most urgent first; returns for how many.

    One transaction each, so that nobody waits long; several sweeps may run at a time. A ticket
    that fails is passed over until the next run.
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
            found: list[bool] = []
            rows.do("ticket", [ticket.pk], partial(assign_apart, ticket, found))
            if not found:
                failed.add(ticket.pk)
            elif found[0]:
                assigned += 1
            else:
                hopeless.add(ticket.type_id)
    return assigned


def take_back(rows: FailingRows) -> int:
    """Take from agents who were switched off what needs an agent, and assign it to others.

    What waits for its company stays until that answers (decision N27). Returns how many were
    assigned; the others wait for somebody.
    """
    assigned = 0

    def take(ticket_ids: Sequence[int]) -> None:
        nonlocal assigned
        assigned += sum(map(take_one_back, ticket_ids))

    for ticket in rows.first(left_behind().only("pk"), MOST_AT_ONCE):
        rows.do("ticket", [ticket.pk], take)
    return assigned


def take_one_back(ticket_id: int) -> bool:
    ticket = Ticket.objects.hold(ticket_id)
    had = ticket.agent
    if had is None or had.user.is_active:
        return False
    if not Ticket.objects.needing_agent().filter(pk=ticket_id).exists():
        return False
    ticket.agent = None
    ticket.version += 1
    ticket.save(update_fields=["agent", "version"])
    facts = {"agent": [str(had), None], "rule": Rule.LEAST_BUSY.value}
    record_history(ticket, SYSTEM, Kind.REASSIGNED, data=facts)
    return assign(ticket)


def assign_apart(ticket: Ticket, found: list[bool], _: object) -> None:
    found.append(assign(ticket, say_failure=False))
