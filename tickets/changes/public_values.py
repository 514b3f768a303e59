"""Representation of comments, actors, amounts and times for companies, in the API and events."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from tickets.models import Comment
from tickets.money import Amounts
from tickets.statuses import By, Status

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
# Shown instead of agents' names, which companies do not see.
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


def public_actor(by: str) -> str:
    """Return company, agent or system; companies do not see which agents are leads."""
    return By.AGENT.value if by == By.LEAD else By(by).value


def public_amounts(amounts: Amounts) -> dict[str, Any] | None:
    """Return amounts as JSON numbers, like those of surcharges; None if no amount is known."""
    if not amounts.currency:
        return None
    numbers = {name: None if one is None else json_number(one) for name, one in amounts}
    return {**numbers, "currency": amounts.currency}


def json_number(amount: Decimal) -> int | float:
    """Convert an amount to an int or a float; with at most 15 digits the conversion is exact."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def format_utc(time: datetime) -> str:
    """Format a time, which must be in UTC like all times of the service."""
    return time.strftime(TIME_FORMAT)
