"""Form data that a browser sends from the desk."""

from typing import Any

from tickets.changes.page_tokens import page_token_of
from tickets.models import Agent, Ticket
from tickets.statuses import TERMINAL


def agent_form(agent: Agent, **changes: Any) -> dict[str, Any]:
    """Return the form of an unavailable agent without shifts and absences."""
    empty = {"TOTAL_FORMS": 0, "INITIAL_FORMS": 0}
    managed = {f"{of}-{name}": n for of in ("shifts", "absences") for name, n in empty.items()}
    return {"capacity": agent.capacity, "time_zone": agent.time_zone, **managed, **changes}


def token(ticket: Ticket) -> str:
    """Return the token that a page loaded now carries for this ticket."""
    return str(page_token_of(ticket))


def coded(to: int) -> dict[str, str]:
    """Return the reason code that a decision needs."""
    return {"code": "other"} if to in TERMINAL else {}


def picked(*tickets: Ticket) -> dict[str, Any]:
    """Return the fields that name tickets in a dialog loaded now."""
    return {"ticket": [one.pk for one in tickets], "seen": [token(one) for one in tickets]}
