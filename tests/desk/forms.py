"""What a browser sends from the forms of the desk."""

from typing import Any

from tickets.models import Agent


def agent_form(agent: Agent, **changes: Any) -> dict[str, Any]:
    """The page of an agent who is not there, with no shifts and no absences."""
    empty = {"TOTAL_FORMS": 0, "INITIAL_FORMS": 0}
    managed = {f"{of}-{name}": n for of in ("shifts", "absences") for name, n in empty.items()}
    return {"capacity": agent.capacity, "time_zone": agent.time_zone, **managed, **changes}
