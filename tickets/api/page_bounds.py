"""Bounds on the tickets and comments of one response (decision N40).

Selection goes by size, so that only texts that are sent are read: PostgreSQL knows the length of a
text without detoasting it, and carries an excluded comment through the statement as a pointer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from core.api.answer_sizes import MOST_OF_ROWS
from core.data import statements
from tickets.models import Comment, Ticket

COMMENTS_IN_LIST = 50
COMMENTS_IN_DETAIL = 200
COMMENTS_IN_PAGE = 500
# Maximum bytes of one ticket's comments in one response.
COMMENT_BYTES = 2 * 1024 * 1024

# Keys, numbers and times take 1,024 bytes of a ticket's JSON and 300 of a comment's.
PAGE = """
WITH ticket AS (
  SELECT wanted.id, position, 1024 + octet_length(comments) + coalesce(octet_length(data), 0)
    + (SELECT coalesce(sum(octet_length(field_id) + coalesce(octet_length(key), 0)
        + coalesce(octet_length(value), 0)), 0)
      FROM tickets_document WHERE ticket_id = wanted.id)
    + (SELECT coalesce(sum(octet_length(comment)), 0) FROM tickets_rating
      WHERE ticket_id = wanted.id) AS size
  FROM unnest(%(tickets)s::bigint[]) WITH ORDINALITY AS wanted (id, position)
  JOIN tickets_ticket AS stored ON stored.id = wanted.id
), comment AS (
  SELECT newest.*,
    sum(newest.size) OVER (PARTITION BY ticket_id ORDER BY newest.id DESC) AS up_to,
    row_number() OVER (PARTITION BY ticket_id ORDER BY newest.id DESC) AS number
  FROM ticket AS wanted CROSS JOIN LATERAL (
    SELECT id, ticket_id, by, status, created_at, text, 300 + octet_length(text) AS size
    FROM tickets_comment WHERE ticket_id = wanted.id AND public
    ORDER BY id DESC LIMIT %(comments)s::integer) AS newest
), part AS (
  SELECT ticket_id, sum(size) FILTER (WHERE up_to <= %(comment_bytes)s::bigint OR number = 1)
    AS size, count(*) AS comments
  FROM comment GROUP BY ticket_id
), fitting AS (
  SELECT ticket.id, position, coalesce(comments, 0) AS comments,
    sum(ticket.size + coalesce(part.size, 0)) OVER (ORDER BY position) AS up_to
  FROM ticket LEFT JOIN part ON ticket_id = ticket.id
)
SELECT fitting.id, fitting.up_to::bigint, comments, comment.id, by, status, created_at, text
FROM fitting LEFT JOIN comment
  ON ticket_id = fitting.id AND (comment.up_to <= %(comment_bytes)s::bigint OR number = 1)
WHERE fitting.up_to <= %(bytes)s::bigint OR position = (SELECT min(position) FROM fitting)
ORDER BY position, comment.id
"""
NEXT_COMMENTS = """
SELECT id, ticket_id, by, status, created_at, text, more FROM (
  SELECT *, sum(300 + octet_length(text)) OVER (ORDER BY id) AS up_to,
    row_number() OVER (ORDER BY id) AS number, lead(id) OVER (ORDER BY id) IS NOT NULL AS more
  FROM (
    SELECT id, ticket_id, by, status, created_at, text FROM tickets_comment
    WHERE ticket_id = %(ticket)s::bigint AND public AND id > %(after)s::bigint
    ORDER BY id LIMIT %(limit)s::integer + 1) AS found) AS measured
WHERE number <= %(limit)s::integer AND (up_to <= %(bytes)s::bigint OR number = 1) ORDER BY id
"""
COUNTS = """
SELECT ticket_id, count(*) FROM tickets_comment
WHERE ticket_id = ANY(%s::bigint[]) AND public GROUP BY ticket_id
"""


class Page(NamedTuple):
    """Tickets that fit into a response with their newest comments, and their size in bytes.

    Comments are oldest first. `full` are the tickets that may have more comments.
    """

    comments: dict[int, list[Comment]]
    bytes: int
    full: list[int]


def read_fitting(tickets: Sequence[int], comments: int) -> Page:
    """Read as many of the tickets as fit, at least one, with up to `comments` comments each."""
    values = {
        "tickets": list(tickets),
        "comments": comments,
        "comment_bytes": COMMENT_BYTES,
        "bytes": MOST_OF_ROWS,
    }
    newest: dict[int, list[Comment]] = {}
    numbers: dict[int, int] = {}
    size = 0
    for ticket, up_to, number, *columns in statements.fetch_rows(PAGE, values) if tickets else ():
        size, numbers[ticket] = up_to, number
        parts = newest.setdefault(ticket, [])
        if columns[0] is not None:
            parts.append(comment_of(columns[0], ticket, *columns[1:]))
    full = [id for id, number in numbers.items() if number == comments or number > len(newest[id])]
    return Page(newest, size, full)


def comment_of(
    id: int, ticket_id: int, by: str, status: int, created_at: datetime, text: str
) -> Comment:
    """Build a comment with the fields that its company is shown."""
    return Comment(
        id=id, ticket_id=ticket_id, by=by, status=status, created_at=created_at, text=text
    )


def count_comments(page: Page) -> dict[int, int]:
    """Count the public comments of each ticket, with a query only for those in `page.full`."""
    counts = {ticket: len(comments) for ticket, comments in page.comments.items()}
    return counts | dict(statements.fetch_rows(COUNTS, [page.full])) if page.full else counts


def next_comments(ticket: Ticket, after: int, limit: int) -> tuple[list[Comment], bool]:
    """Return the public comments after an id, as many as fit, and whether there are more."""
    values = {"ticket": ticket.pk, "after": after, "limit": limit, "bytes": MOST_OF_ROWS}
    rows = statements.fetch_rows(NEXT_COMMENTS, values)
    return [comment_of(*columns) for *columns, _ in rows], bool(rows and rows[-1][-1])
