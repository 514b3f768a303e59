"""Who gets a ticket: the least loaded of those who may take it (decision T18)."""

import logging
from typing import Any, NamedTuple

from django.db import OperationalError, connection, transaction
from django.db.models import DateTimeField, Func, QuerySet

from tickets.assignment.compiled_query import Question, Slot
from tickets.assignment.picking import Candidate, pick, told
from tickets.changes.actors import SYSTEM
from tickets.changes.history import remember
from tickets.models import Agent, Ticket
from tickets.models.agents import AgentQuerySet

logger = logging.getLogger(__name__)

LOCK_TIMEOUT = "2s"
MOST_AT_ONCE = 500


class Choice(NamedTuple):
    """Who gets the ticket, if anybody, and why, for history."""

    agent: Candidate | None
    reason: str
    loads: dict[str, Any]


def assign(ticket: Ticket, *, say_failure: bool = True, but: int | None = None) -> bool:
    """Give a new or waiting ticket to an agent, `but` not to this one; returns whether it could.

    The last step of its caller's transaction, as it makes all other assignments wait. Agents who
    cannot be locked in time leave the ticket to the sweep: it never fails the caller.
    """
    try:
        with transaction.atomic():
            choice = choose(ticket.type_id, but)
            if choice.agent:
                hand_over(ticket, choice.agent)
    except OperationalError as error:
        logger.warning("ticket %s stays unassigned: %s", ticket.pk, error)
        choice = Choice(None, "left unassigned: the agents were busy being assigned", {})
    if choice.agent:
        changes = {"agent": [None, choice.agent.name], "loads": choice.loads}
        remember(ticket, SYSTEM, reason=choice.reason, changes=changes)
    elif say_failure:
        remember(ticket, SYSTEM, reason=choice.reason, changes={"loads": choice.loads})
    return choice.agent is not None


def choose(type_id: int, but: int | None = None) -> Choice:
    """Lock all who may take the type, then count. READ COMMITTED only."""
    pool = lock_agents(type_id)
    # A new statement: it sees what those who held the locks before have committed.
    candidates = [Candidate(*row) for row in LOADS.ask(pool=pool, but=but or 0)]
    loads = told(candidates)
    if not candidates:
        return Choice(None, "left unassigned: nobody who takes this type is available", loads)
    lightest = pick(candidates)
    if lightest is None:
        return Choice(None, "left unassigned: everybody who takes this type has enough", loads)
    return Choice(lightest, f"assigned to {lightest.name}: the least loaded", loads)


def lock_agents(type_id: int) -> list[int]:
    with connection.cursor() as cursor:
        # Ends with the transaction, as the locks do.
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
    return [agent_id for (agent_id,) in POOL.ask(type_id=type_id)]


def pool_of(type_id: Slot) -> AgentQuerySet:
    # All of them, in one order: who waits for one agent only would then count too early, and
    # two who lock in different orders would wait for each other.
    agents = Agent.objects.taking(type_id).order_by("pk").only("pk")
    return agents.select_for_update(of=("self",), no_key=True)


def loads_of(pool: Slot, but: Slot) -> QuerySet[Agent, tuple]:
    return counted(Agent.objects.at_work().filter(pk__in=pool).exclude(pk=but))


def counted(agents: AgentQuerySet) -> QuerySet[Agent, tuple]:
    """The fields of a Candidate for each."""
    return agents.with_loads().values_list(
        "pk", "user__username", "load", "capacity", "last_assigned_at"
    )


POOL = Question(pool_of, type_id="{}::integer")
LOADS = Question(loads_of, pool="SELECT unnest({}::bigint[])", but="{}::bigint")


def hand_over(ticket: Ticket, to: Candidate) -> None:
    ticket.agent_id = to.agent_id
    ticket.save(update_fields=["agent"])
    # Not now(), which stands still in a transaction: this one may have waited for the locks.
    clock = Func(function="clock_timestamp", output_field=DateTimeField())
    Agent.objects.filter(pk=to.agent_id).update(last_assigned_at=clock)


def assign_waiting() -> int:
    """Find agents for the tickets that wait for one, most urgent first; returns for how many.

    One transaction each, so that nobody waits long; several sweeps may run at a time.
    """
    assigned = 0
    hopeless: set[int] = set()
    while assigned < MOST_AT_ONCE:
        with transaction.atomic(durable=True):
            ticket = (
                Ticket.objects.waiting()
                .exclude(type__in=hopeless)
                .urgent_first()
                .select_for_update(skip_locked=True, no_key=True)
                .first()
            )
            if ticket is None:
                return assigned
            if assign(ticket, say_failure=False):
                assigned += 1
            else:
                hopeless.add(ticket.type_id)
    return assigned
