"""Whose turn it is: the least loaded for their capacity (decision T18). No database here."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

# History keeps the loads of so many, the lightest: two hundred would outweigh the ticket.
MOST_TOLD = 20


class Candidate(NamedTuple):
    agent_id: int
    name: str
    load: int
    capacity: int
    last_assigned_at: datetime | None


def pick(candidates: list[Candidate]) -> Candidate | None:
    """The least loaded for their capacity; among equals who has waited longest, then by id."""
    return min((one for one in candidates if one.load < one.capacity), default=None, key=turn)


def turn(one: Candidate) -> tuple[Any, ...]:
    """The smallest is the next to get a ticket."""
    share = one.load / one.capacity if one.capacity else 1.0
    return share, one.last_assigned_at is not None, one.last_assigned_at, one.agent_id


def told(candidates: list[Candidate]) -> dict[str, list[int]]:
    """Load and capacity by name, for history."""
    first = sorted(candidates, key=turn)[:MOST_TOLD]
    return {one.name: [one.load, one.capacity] for one in first}


class Explained(NamedTuple):
    """An agent as assignment saw them, and why they got the ticket, or did not."""

    agent: str
    load: int
    capacity: int
    chosen: bool
    why: str


def explain(changes: Mapping[str, Any], *, by_hand: bool = False) -> list[Explained]:
    """The loads behind an assignment, from what its line of history keeps; the lightest first.

    Nothing for a line that speaks of something else.
    """
    loads = changes.get("loads") or {}
    chosen = (changes.get("agent") or [None, None])[1]
    shares = {
        name: load / capacity if capacity else 1.0 for name, (load, capacity) in loads.items()
    }

    def why(name: str) -> str:
        load, capacity = loads[name]
        if name == chosen:
            return "given by hand" if by_hand else "the least loaded"
        if load >= capacity:
            return "has enough"
        return "as loaded, had one more lately" if shares[name] == least else "more loaded"

    least = shares.get(chosen, 0.0)
    return [
        Explained(name, *loads[name], name == chosen, why(name))
        for name in sorted(loads, key=lambda name: (shares[name], name != chosen, name))
    ]
