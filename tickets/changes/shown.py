"""How companies are shown who did what, wherever they are shown it: by the API and in events."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from tickets.models import Comment
from tickets.money import Amounts
from tickets.statuses import By, Status

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
# An agent's name is not the company's business.
DESK = "Support"


def comment_row(comment: Comment, company_name: str) -> dict[str, Any]:
    return {
        "id": comment.pk,
        "type": comment_type(comment),
        "status_id": comment.status,
        "status_name": Status(comment.status).slug,
        "description": comment.text,
        "created_by_name": company_name if comment.by == By.COMPANY else DESK,
        "created_at": format_utc(comment.created_at),
        "utc_created_at": format_utc(comment.created_at),
    }


def comment_type(comment: Comment) -> str:
    return "client" if comment.by == By.COMPANY else "admin"


def shown_actor(by: str) -> str:
    """Company, agent or system: who of the agents is a lead is not the company's business."""
    return By.AGENT.value if by == By.LEAD else By(by).value


def shown_amounts(amounts: Amounts) -> dict[str, Any] | None:
    """As numbers, like those of surcharges; None where no amount is known."""
    if not amounts.currency:
        return None
    shown = {name: None if one is None else json_number(one) for name, one in amounts}
    return {**shown, "currency": amounts.currency}


def json_number(amount: Decimal) -> int | float:
    """Floats read back the same digits, as there are fifteen at most."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def format_utc(time: datetime) -> str:
    """In UTC, as the service keeps all its times."""
    return time.strftime(TIME_FORMAT)
