"""What a browser sends from the forms of the desk."""

from typing import Any

from tickets.changes.seen import seen_of
from tickets.models import Agent, Ticket
from tickets.statuses import TERMINAL


def agent_form(agent: Agent, **changes: Any) -> dict[str, Any]:
    """The page of an agent who is not there, with no shifts and no absences."""
    empty = {"TOTAL_FORMS": 0, "INITIAL_FORMS": 0}
    managed = {f"{of}-{name}": n for of in ("shifts", "absences") for name, n in empty.items()}
    return {"capacity": agent.capacity, "time_zone": agent.time_zone, **managed, **changes}


def token(ticket: Ticket) -> str:
    """What a page shows of the ticket that is loaded now."""
    return str(seen_of(ticket))


def coded(to: int) -> dict[str, str]:
    """The reason code that a decision needs."""
    return {"code": "other"} if to in TERMINAL else {}


def picked(*tickets: Ticket) -> dict[str, Any]:
    """The fields that name tickets in a dialog that is loaded now."""
    return {"ticket": [one.pk for one in tickets], "seen": [token(one) for one in tickets]}
