"""Whose turn it is: the least busy for their capacity (decision T18). No database here."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

# History keeps the loads of so many, the lightest: two hundred would outweigh the ticket.
MOST_LOADS_KEPT = 20


class AgentLoad(NamedTuple):
    """An agent who could get a ticket, and how much they have."""

    agent_id: int
    name: str
    load: int
    capacity: int
    last_assigned_at: datetime | None


def pick(candidates: list[AgentLoad]) -> AgentLoad | None:
    """The least busy for their capacity; among equals who has waited longest, then by id."""
    return min((one for one in candidates if one.load < one.capacity), default=None, key=turn)


def turn(one: AgentLoad) -> tuple[Any, ...]:
    """The smallest is the next to get a ticket."""
    share = one.load / one.capacity if one.capacity else 1.0
    return share, one.last_assigned_at is not None, one.last_assigned_at, one.agent_id


def loads_for_history(candidates: list[AgentLoad]) -> dict[str, list[int]]:
    """Load and capacity by name, of the MOST_LOADS_KEPT whose turn comes first."""
    first = sorted(candidates, key=turn)[:MOST_LOADS_KEPT]
    return {one.name: [one.load, one.capacity] for one in first}


class Standing(StrEnum):
    """How an agent stood when a ticket was assigned."""

    CHOSEN = "chosen"
    AT_CAPACITY = "at_capacity"
    # As busy as the one who was chosen, who had waited longer.
    ASSIGNED_LATER = "assigned_later"
    BUSIER = "busier"


class Explained(NamedTuple):
    """An agent as assignment saw them, and why they got the ticket, or did not."""

    agent: str
    load: int
    capacity: int
    standing: Standing


def explain(data: Mapping[str, Any]) -> list[Explained]:
    """The loads behind an assignment, from the facts of its history entry; the lightest first.

    Nothing for an entry that speaks of something else. Why the chosen one was chosen is the
    entry's `rule`.
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
