"""Limits on a company's texts: comments per ticket, and bytes per day (decision N40)."""

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from companies.models import Company
from core.data import statements
from tickets.changes.actors import Actor
from tickets.models import Ticket
from tickets.stated_fields import STATED_TEXTS
from tickets.statuses import By

# Refused bytes are rolled back with everything else, so they do not count.
ADD = """
INSERT INTO tickets_textofday (company_id, day, bytes) VALUES (%s::bigint, %s::date, %s::bigint)
ON CONFLICT (company_id) DO UPDATE SET day = excluded.day, bytes = excluded.bytes
  + CASE WHEN tickets_textofday.day = excluded.day THEN tickets_textofday.bytes ELSE 0 END
RETURNING bytes
"""
IS_FULL = """
SELECT count(*) >= %s::integer FROM (
  SELECT FROM tickets_comment WHERE ticket_id = %s::bigint LIMIT %s::integer) AS found
"""


class TextRefused(Exception):
    """Refusal of a company's text that exceeds a limit."""


class TooManyComments(TextRefused):
    """Refusal of a comment on a ticket that has the most allowed."""

    def __init__(self) -> None:
        super().__init__(f"A ticket has at most {settings.COMMENTS_PER_TICKET} comments.")


class TextOfDaySpent(TextRefused):
    """Refusal until midnight UTC; `wait` is the number of seconds until then."""

    def __init__(self, now: datetime) -> None:
        super().__init__(
            f"You have sent {settings.TEXT_MIB_PER_DAY} MiB of text today; the day ends at midnight"
            " UTC."
        )
        tomorrow = datetime.combine(now.date() + timedelta(days=1), time.min, now.tzinfo)
        self.wait = (tomorrow - now).total_seconds()


def count_text(company: Company, *texts: str | None) -> None:
    """Count what a company writes, in the transaction that stores it. Raises TextOfDaySpent.

    Call it after the ticket is locked: the company's other writes wait until the transaction ends.
    """
    size = sum(len(text.encode()) for text in texts if text)
    if not size:
        return
    now = timezone.now()
    ((total,),) = statements.fetch_rows(ADD, [company.pk, now.date(), size])
    if total > settings.TEXT_MIB_PER_DAY * 2**20:
        raise TextOfDaySpent(now)


def count_opening(
    company: Company,
    actor: Actor,
    fields: Mapping[str, Any],
    documents: Iterable[Mapping[str, Any]],
) -> None:
    """Count the texts of a new ticket, unless an agent opens it. Raises TextOfDaySpent."""
    if actor.by == By.COMPANY:
        texts = [fields.get(name) for name in ("comments", "data", *STATED_TEXTS)]
        count_text(company, *texts, *document_texts(documents))


def document_texts(documents: Iterable[Mapping[str, Any]]) -> list[str | None]:
    return [one.get(name) for one in documents for name in ("field_id", "key", "value")]


def check_room(ticket: Ticket) -> None:
    """Raise TooManyComments if the ticket has the most comments allowed."""
    most = settings.COMMENTS_PER_TICKET
    ((full,),) = statements.fetch_rows(IS_FULL, [most, ticket.pk, most])
    if full:
        raise TooManyComments
