"""Tickets by what agents know of them: an id, a tracking number, a company, words.

First a short list of ids, each part of it through an index of its own; then whatever else the list
asks of those. One statement for all of it would leave PostgreSQL the choice to walk over all
tickets instead.
"""

from typing import Any, NamedTuple

from django.db import connection
from django.http import HttpRequest
from django.urls import reverse
from unfold.dataclasses import SearchResult

from companies.ids import LARGEST_ID
from tickets.models import Ticket

MOST_FOUND = 1_000
MOST_COMPANIES = 20
MOST_OFFERED = 10
LONGEST_TERM = 200
# Rows of a block, as tickets_words() numbers them.
BLOCK_BITS = 14

BY_ID = "SELECT id FROM tickets_ticket WHERE id = %(number)s"
BY_SHIPMENT = "SELECT id FROM tickets_ticket WHERE shipment_id = %(number)s"
BY_TRACKING = """
SELECT ticket.id FROM shipments_shipment parcel
JOIN tickets_ticket ticket
  ON ticket.shipment_id = parcel.id AND ticket.company_id = parcel.company_id
WHERE parcel.tracking_number IN (%(term)s, %(upper)s)
"""
# The newest of each company through its index; never all of a large company's.
BY_COMPANY = """
SELECT theirs.id FROM (
  SELECT id FROM companies_company
  WHERE upper(name) LIKE upper(%(prefix)s) ORDER BY id LIMIT %(companies)s
) company
CROSS JOIN LATERAL (
  SELECT id FROM tickets_ticket WHERE company_id = company.id
  ORDER BY created_at DESC, id DESC LIMIT %(most)s
) theirs
"""
# Block after block from the newest on, until there are enough: as quick for a word that half of
# all tickets have as for one that none has. See tickets_words() for what a block is.
BY_WORDS = """
SELECT found.id FROM generate_series(
  (SELECT max(id) FROM {table}) >> {bits}, 0, -1
) AS block
CROSS JOIN LATERAL (
  SELECT {ticket} AS id FROM {table}
  WHERE tickets_words({text}, id) @@ (
    websearch_to_tsquery('simple', %(term)s) && ('''block ' || block || '''')::tsquery
  )
  ORDER BY {table}.id DESC
) found
WHERE numnode(websearch_to_tsquery('simple', %(term)s)) > 0
LIMIT %(most)s
"""
IN_FIRST_TEXTS = BY_WORDS.format(
    table="tickets_ticket", ticket="id", text="comments", bits=BLOCK_BITS
)
IN_COMMENTS = BY_WORDS.format(
    table="tickets_comment", ticket="ticket_id", text="text", bits=BLOCK_BITS
)


class Matches(NamedTuple):
    """At most MOST_FOUND ids; whether there were more, older ones."""

    ids: list[int]
    more: bool


def search_tickets(term: str, most: int = MOST_FOUND) -> Matches:
    """One statement, bounded whatever is asked for."""
    term = term.strip().replace("\x00", "")[:LONGEST_TERM]
    if not term:
        return Matches([], more=False)
    parts = [BY_TRACKING, BY_COMPANY, IN_FIRST_TEXTS, IN_COMMENTS]
    if is_number(term):
        parts[:0] = [BY_ID, BY_SHIPMENT]
    union = " UNION ".join(f"({part})" for part in parts)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM ({union}) AS found ORDER BY id DESC LIMIT %(most)s",  # noqa: S608
            {
                "number": int(term) if is_number(term) else None,
                "term": term,
                "upper": term.upper(),
                "prefix": like(term),
                "companies": MOST_COMPANIES,
                "most": most + 1,
            },
        )
        ids = [ticket_id for (ticket_id,) in cursor.fetchall()]
    return Matches(ids[:most], more=len(ids) > most)


def is_number(term: str) -> bool:
    return term.isascii() and term.isdecimal() and int(term) <= LARGEST_ID


def like(prefix: str) -> str:
    """A pattern for what begins so."""
    for special in "\\%_":
        prefix = prefix.replace(special, f"\\{special}")
    return f"{prefix}%"


def palette(request: HttpRequest, term: str) -> list[SearchResult]:
    """The first few for Ctrl+K, for who may see tickets; Unfold keeps them for five minutes."""
    if not request.user.has_perm("tickets.view_ticket"):
        return []
    ids = search_tickets(term, MOST_OFFERED).ids
    tickets = Ticket.objects.filter(pk__in=ids).select_related("company", "type").order_by("-pk")
    return [search_result(ticket) for ticket in tickets]


def search_result(ticket: Ticket) -> SearchResult:
    words: list[Any] = [ticket.company, ticket.type, ticket.get_status_display()]
    return SearchResult(
        title=f"#{ticket.pk}",
        description=" · ".join(map(str, words)),
        link=reverse("admin:tickets_ticket_change", args=[ticket.pk]),
        icon="confirmation_number",
    )
