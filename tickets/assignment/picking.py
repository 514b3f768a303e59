"""Choice of the least busy agent for their capacity (decision T18). No database access."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

# Number of loads that history stores, the lightest; those of 200 agents would outweigh the ticket.
MOST_LOADS_KEPT = 20


class AgentLoad(NamedTuple):
    """Candidate for a ticket, with their load and capacity."""

    agent_id: int
    name: str
    load: int
    capacity: int
    last_assigned_at: datetime | None


def pick(candidates: list[AgentLoad]) -> AgentLoad | None:
    """Return the least busy for their capacity; ties go to the longest wait, then the lowest id."""
    return min((one for one in candidates if one.load < one.capacity), default=None, key=turn)


def turn(one: AgentLoad) -> tuple[Any, ...]:
    """Return the sort key of an agent; the smallest gets the next ticket."""
    share = one.load / one.capacity if one.capacity else 1.0
    return share, one.last_assigned_at is not None, one.last_assigned_at, one.agent_id


def loads_for_history(candidates: list[AgentLoad]) -> dict[str, list[int]]:
    """Return load and capacity by name of the first MOST_LOADS_KEPT candidates."""
    first = sorted(candidates, key=turn)[:MOST_LOADS_KEPT]
    return {one.name: [one.load, one.capacity] for one in first}


class Standing(StrEnum):
    """Result of an agent in the assignment of a ticket."""

    CHOSEN = "chosen"
    AT_CAPACITY = "at_capacity"
    # Same load as the chosen agent, who had waited longer.
    ASSIGNED_LATER = "assigned_later"
    BUSIER = "busier"


class Explained(NamedTuple):
    """Load of an agent at assignment, and why they did or did not get the ticket."""

    agent: str
    load: int
    capacity: int
    standing: Standing


def explain(data: Mapping[str, Any]) -> list[Explained]:
    """Return the loads compared in an assignment from its history entry, the lightest first.

    Empty for entries of other kinds. The entry's `rule` says why the agent was chosen.
    """
    loads = data.get("loads") or {}
    chosen = (data.get("agent") or [None, None])[1]
    shares = {
        name: load / capacity if capacity else 1.0 for name, (load, capacity) in loads.items()
    }
    least = shares.get(chosen, 0.0)

    def standing(name: str) -> Standing:
        load, capacity = loads[name]
        if name == chosen:
            return Standing.CHOSEN
        if load >= capacity:
            return Standing.AT_CAPACITY
        return Standing.ASSIGNED_LATER if shares[name] == least else Standing.BUSIER

    order = sorted(loads, key=lambda name: (shares[name], name != chosen, name))
    return [Explained(name, loads[name][0], loads[name][1], standing(name)) for name in order]
