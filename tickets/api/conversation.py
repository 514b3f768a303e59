"""Paginated comments of a ticket for its company."""

from typing import Any

from rest_framework import serializers

from companies.models import Company
from core.api.answer_sizes import fitting_rows
from core.api.bodies import Cursor
from core.values.ids import ID_PATTERN
from tickets.api import page_bounds
from tickets.api.query_fields import QueryInteger
from tickets.api.serializers import WRONG_CURSOR, Query
from tickets.changes.public_values import comment_row


class CommentsQuery(Query):
    limit = QueryInteger(
        required=False, default=page_bounds.COMMENTS_IN_PAGE, max_value=page_bounds.COMMENTS_IN_PAGE
    )
    cursor = Cursor(ID_PATTERN, help_text="The next_cursor of the previous page.")

    def validate_cursor(self, cursor: str) -> int:
        try:
            number: int = QueryInteger().run_validation(cursor)
        except serializers.ValidationError as error:
            raise serializers.ValidationError(WRONG_CURSOR, code="invalid_cursor") from error
        return number


def list_comments(
    company: Company, ticket_id: int, *, after: int = 0, limit: int = page_bounds.COMMENTS_IN_PAGE
) -> tuple[list[dict[str, Any]], str | None]:
    """Return a page of public comments after an id, oldest first, and the next cursor or None.

    Raises Ticket.DoesNotExist.
    """
    ticket = company.tickets.only("pk").get(pk=ticket_id)
    comments, more = page_bounds.next_comments(ticket, after, limit)
    rows = fitting_rows([comment_row(comment, company.name) for comment in comments])
    more = more or len(rows) < len(comments)
    return rows, str(rows[-1]["id"]) if rows and more else None


def read_conversation(company: Company, ticket_id: int, pages: int) -> list[dict[str, Any]]:
    """Return the comments of at most `pages` pages, oldest first. Raises Ticket.DoesNotExist."""
    rows, cursor = list_comments(company, ticket_id)
    for _ in range(pages - 1):
        if cursor is None:
            break
        more, cursor = list_comments(company, ticket_id, after=int(cursor))
        rows += more
    return rows
