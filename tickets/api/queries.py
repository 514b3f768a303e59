"""Queries for a company's own tickets; other companies' data is never included (T12)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, TypeVar

from companies.models import Company
from core.api.answer_sizes import LONGEST_ESCAPE, MOST_OF_ROWS, fitting_rows
from core.api.bodies import WrongField
from shipments.models import Shipment
from tickets.api import counting, following, page_bounds, searching
from tickets.api.representation import Parts, appeal_row, file_row, history_rows, ticket_row
from tickets.changes.appeals import latest_appeal
from tickets.changes.public_values import comment_row, format_utc
from tickets.models import Document, RequestedDocument, Ticket, TicketFile
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import OPEN, TERMINAL, Status

# More tickets than any company has, and within PostgreSQL's limit for OFFSET.
LARGEST_LIST = 2**31
Part = TypeVar("Part", Document, RequestedDocument, TicketFile)
# The newest moves in a ticket's history.
MOST_MOVES = 1_000
GROUPS = {"active": OPEN, "resolved": TERMINAL}


def list_tickets(
    company: Company, query: dict[str, Any], parameters: Mapping[str, str], *, base: str
) -> dict[str, Any]:
    """Return a page of the company's tickets, newest first, and their counts.

    `query` is what ListQuery reads from the query `parameters`, `base` the service's own address.
    The counts ignore the status. `next_cursor` requests the rows after the last one, and is null
    at the end; unlike `page` it costs the same at any depth, and is stable when rows are added.
    A page ends early if its texts fill a response, and `next_cursor` continues there.
    With `updated_since` the oldest change comes first, and `next_cursor` is never null.
    Raises WrongField.
    """
    matches, are_all = matching(company, query)
    counts = counting.count_tickets(company.pk, parameters, matches)
    wanted = statuses(query)
    total = sum(counts.by_status.get(status, 0) for status in wanted)
    if "updated_since" in query:
        positions = following.next_changes(matches.filter(status__in=sorted(wanted)), query)
        ids = list(positions)
    else:
        positions = {}
        ids = newest_ids(company, matches, query, wanted, total, counts.exact)
    tickets, rows = fitting_page(ids[: query["limit"]], company, query["getComments"], base)
    if not counts.exact:
        # The incomplete count of a long list may have missed the tickets of this page.
        skipped = (query.get("page", 1) - 1) * query["limit"]
        total = max(total, skipped + len(tickets) if tickets else 0)
    return {
        "data": rows,
        "total_rows": total,
        "total_rows_exact": counts.exact and are_all,
        "counts": {
            name: sum(counts.by_status.get(status, 0) for status in group)
            for name, group in GROUPS.items()
        },
        "next_cursor": next_cursor(tickets, ids, query, positions),
    }


def fitting_page(
    ids: Sequence[int], company: Company, with_comments: bool, base: str
) -> tuple[list[Ticket], list[dict[str, Any]]]:
    """Return the first of these tickets that fit into a response, and their rows."""
    page = page_bounds.read_fitting(ids, page_bounds.COMMENTS_IN_LIST if with_comments else 1)
    by_id = select_type_and_rating(Ticket.objects.all()).in_bulk(page.comments)
    tickets = [by_id[ticket] for ticket in page.comments if ticket in by_id]
    rows = ticket_rows(company, tickets, page, with_comments=with_comments, base=base)
    # The sizes exclude JSON escapes; measure the rows only if escapes could exceed the limit.
    if page.bytes * LONGEST_ESCAPE > MOST_OF_ROWS:
        rows = fitting_rows(rows)
    return tickets[: len(rows)], rows


def next_cursor(
    tickets: Sequence[Ticket],
    ids: Sequence[int],
    query: dict[str, Any],
    positions: Mapping[int, str],
) -> str | None:
    """Return the cursor of the next page, or None; `ids` has one more if there is a next page."""
    if "updated_since" in query:
        if tickets:
            # The listed position, as the ticket may have changed again since.
            return positions[tickets[-1].pk]
        return query.get("cursor") or following.start_position(query["updated_since"])
    return str(tickets[-1].pk) if tickets and tickets[-1].pk != ids[-1] else None


def matching(company: Company, query: dict[str, Any]) -> tuple[TicketQuerySet, bool]:
    """Return the company's tickets that match every filter except the status.

    Also returns whether these are all: a search for words finds only the newest thousand.
    """
    tickets, are_all = company.tickets.newest(), True
    for name, field in (
        ("type", "type__in"),
        ("ticket_type_id", "type__in"),
        ("carrier_id", "carrier_id"),
        ("shipment_id", "shipment_id"),
        ("filter", "pk"),
    ):
        if name in query:
            tickets = tickets.filter(**{field: query[name]})
    if "tracking_number" in query:
        shipments = company.shipments.numbered([query["tracking_number"]])
        tickets = tickets.filter(shipment_id__in=shipments.values("pk"))
    start = datetime.combine(query.get("date_from", date.min), time.min, UTC)
    end = datetime.combine(query.get("date_to", date.max), time.max, UTC)
    if "date_from" in query:
        tickets = tickets.filter(created_at__gte=start)
    if "date_to" in query:
        tickets = tickets.filter(created_at__lte=end)
    if "updated_since" in query:
        tickets = tickets.filter(updated_at__gte=query["updated_since"])
    if "q" in query:
        ids, more = searching.find_words(company.pk, query["q"], start, end)
        tickets, are_all = tickets.filter(pk__in=ids), not more
    return tickets, are_all


def statuses(query: dict[str, Any]) -> frozenset[Status]:
    for name in ("status", "ticket_status_id"):
        if name in query:
            return frozenset(query[name])
    return GROUPS.get(query.get("status_group", ""), frozenset(Status))


def last_seen(company: Company, ticket_id: int) -> Ticket:
    last = company.tickets.filter(pk=ticket_id).first()
    if last is None:
        raise WrongField("cursor", "Send the next_cursor of an answer.", code="invalid_cursor")
    return last


def newest_ids(
    company: Company,
    tickets: TicketQuerySet,
    query: dict[str, Any],
    wanted: frozenset[Status],
    total: int,
    exact: bool,
) -> list[int]:
    """Return the ids of the page's tickets, plus one more if there is a next page."""
    if "cursor" in query:
        tickets = tickets.after(last_seen(company, query["cursor"]))
    limit = query["limit"]
    start = (query.get("page", 1) - 1) * limit
    if start >= (total if exact else LARGEST_LIST):
        # PostgreSQL would also reject an OFFSET as large as that of the largest page numbers.
        return []
    # Select only ids, so that the rows before a late page are skipped in an index-only scan.
    return ids_of(tickets, wanted, start, start + limit + 1)


def ids_of(tickets: TicketQuerySet, wanted: frozenset[Status], start: int, end: int) -> list[int]:
    """Return the ids of tickets in these statuses, sliced from `start` to `end`.

    Each status is a separate range of an index in this order. With a single query, PostgreSQL
    would scan every ticket of a company to find the few that are open.
    """
    if len(wanted) == len(Status):
        return list(tickets.values_list("pk", flat=True)[start:end])
    parts = [
        tickets.filter(status=status).values_list("pk", "created_at") for status in sorted(wanted)
    ]
    if len(parts) == 1:
        rows = parts[0]
    else:
        first, *others = (part[:end] for part in parts)
        rows = first.union(*others, all=True).order_by("-created_at", "-pk")
    return [pk for pk, _ in rows[start:end]]


def select_type_and_rating(tickets: TicketQuerySet) -> TicketQuerySet:
    # A ticket's row does not have these columns of its type, which may be long.
    types = ("type__inputs", "type__files", "type__use_case", "type__assistant_notes")
    return tickets.select_related("type", "rating").defer(*types)


def describe_ticket(
    company: Company, ticket_id: int, *, with_comments: bool, base: str
) -> dict[str, Any]:
    """Return the row of a ticket with its history. Raises Ticket.DoesNotExist."""
    ticket = select_type_and_rating(company.tickets.all()).get(pk=ticket_id)
    most = page_bounds.COMMENTS_IN_DETAIL if with_comments else 1
    page = page_bounds.read_fitting([ticket.pk], most)
    (row,) = ticket_rows(company, [ticket], page, with_comments=with_comments, base=base)
    history = [*ticket.history.filter(public=True).order_by("-pk")[:MOST_MOVES]][::-1]
    deadline = {"claim_deadline": format_utc(ticket.filing_due_at)} if ticket.filing_due_at else {}
    appeal = appeal_row(latest_appeal(ticket, history))
    return {**row, "history": history_rows(history), **deadline, "appeal": appeal}


def ticket_rows(
    company: Company,
    tickets: Sequence[Ticket],
    page: page_bounds.Page,
    *,
    with_comments: bool,
    base: str,
) -> list[dict[str, Any]]:
    """Return the rows of tickets; the number of queries does not depend on their number."""
    shipments = Shipment.objects.filter(company=company).in_bulk(
        {ticket.shipment_id for ticket in tickets if ticket.shipment_id is not None}
    )
    totals = page_bounds.count_comments(page) if with_comments else {}
    documents = by_ticket(Document.objects.filter(ticket__in=tickets))
    files = by_ticket(TicketFile.objects.filter(ticket__in=tickets, public=True))
    requested = by_ticket(RequestedDocument.objects.filter(ticket__in=tickets))
    rows = []
    for ticket in tickets:
        newest = page.comments.get(ticket.pk, [])
        parts = Parts(
            shipments.get(ticket.shipment_id),
            newest,
            documents[ticket.pk],
            files[ticket.pk],
            requested[ticket.pk],
        )
        row = ticket_row(ticket, parts, base=base)
        if with_comments:
            newest_first = [comment_row(comment, company.name) for comment in reversed(newest)]
            row["allComments"] = fitting_rows(newest_first, page_bounds.COMMENT_BYTES)[::-1]
            row["comments_total"] = totals.get(ticket.pk, 0)
        rows.append(row)
    return rows


def by_ticket(rows: Iterable[Part]) -> dict[int | None, list[Part]]:
    """Group rows by ticket.

    Django's prefetch_related would create a queryset per ticket, which takes longer than the rest.
    """
    groups: dict[int | None, list[Part]] = defaultdict(list)
    for row in rows:
        groups[row.ticket_id].append(row)
    return groups


def list_files(company: Company, ticket_id: int, *, base: str) -> list[dict[str, Any]]:
    """Return the rows of a ticket's files, oldest first. Raises Ticket.DoesNotExist."""
    files = company.tickets.get(pk=ticket_id).files.filter(public=True)
    return [file_row(file, base) for file in files]
