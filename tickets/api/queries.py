"""A company's tickets as it may see them. Nothing of another company ever comes in (T12)."""

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
from tickets.changes.shown import comment_row, format_utc
from tickets.models import Document, RequestedDocument, Ticket, TicketFile
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import OPEN, TERMINAL, Status

# Nobody has so many tickets, and PostgreSQL can skip as many.
LARGEST_LIST = 2**31
Part = TypeVar("Part", Document, RequestedDocument, TicketFile)
# Moves in a ticket's history, the newest.
MOST_MOVES = 1_000
GROUPS = {"active": OPEN, "resolved": TERMINAL}


def list_tickets(
    company: Company, query: dict[str, Any], sent: Mapping[str, str], *, base: str
) -> dict[str, Any]:
    """One page of the company's tickets, newest first, and how many there are.

    `query` is what ListQuery reads of `sent`, `base` the service's own address. The counts ignore
    its status. `next_cursor` asks for the rows behind the last one and is null at the end; unlike
    `page` it costs the same however deep the list is, and rows that appear meanwhile shift nothing.
    A page ends early where its texts fill an answer, and `next_cursor` goes on from there.
    With `updated_since` the oldest change comes first, and `next_cursor` is always there, to go on
    from. Raises WrongField.
    """
    found, all_found = matching(company, query)
    counted = counting.count_tickets(company.pk, sent, found)
    wanted = statuses(query)
    total = sum(counted.by_status.get(status, 0) for status in wanted)
    if "updated_since" in query:
        places = following.change_places(found.filter(status__in=sorted(wanted)), query)
        ids = list(places)
    else:
        places = {}
        ids = newest_ids(company, found, query, wanted, total, counted.exact)
    tickets, rows = fitting_page(ids[: query["limit"]], company, query["getComments"], base)
    if not counted.exact:
        # What was counted of a long list may have none of these.
        skipped = (query.get("page", 1) - 1) * query["limit"]
        total = max(total, skipped + len(tickets) if tickets else 0)
    return {
        "data": rows,
        "total_rows": total,
        "total_rows_exact": counted.exact and all_found,
        "counts": {
            name: sum(counted.by_status.get(status, 0) for status in group)
            for name, group in GROUPS.items()
        },
        "next_cursor": place_after(tickets, ids, query, places),
    }


def fitting_page(
    ids: Sequence[int], company: Company, with_comments: bool, base: str
) -> tuple[list[Ticket], list[dict[str, Any]]]:
    """The first of these tickets, as many as an answer has room for, and their rows."""
    page = page_bounds.read_fitting(ids, page_bounds.COMMENTS_IN_LIST if with_comments else 1)
    found = related(Ticket.objects.all()).in_bulk(page.comments)
    tickets = [found[ticket] for ticket in page.comments if ticket in found]
    rows = ticket_rows(company, tickets, page, with_comments=with_comments, base=base)
    # Escapes are not in the sizes. They are counted where they could matter.
    if page.bytes * LONGEST_ESCAPE > MOST_OF_ROWS:
        rows = fitting_rows(rows)
    return tickets[: len(rows)], rows


def place_after(
    tickets: Sequence[Ticket],
    ids: Sequence[int],
    query: dict[str, Any],
    places: Mapping[int, str],
) -> str | None:
    """Return the cursor of the next page, or None; `ids` has one more if there is one. `places`:
    of the changes that the list found, as a ticket may have changed again since."""
    if "updated_since" in query:
        if tickets:
            return places[tickets[-1].pk]
        return query.get("cursor") or following.place_before(query["updated_since"])
    return str(tickets[-1].pk) if tickets and tickets[-1].pk != ids[-1] else None


def matching(company: Company, query: dict[str, Any]) -> tuple[TicketQuerySet, bool]:
    """The company's tickets by everything that was asked for but the status.

    And whether these are all: of words only the newest thousand tickets are found.
    """
    found, all_found = company.tickets.newest(), True
    for name, field in (
        ("type", "type__in"),
        ("ticket_type_id", "type__in"),
        ("carrier_id", "carrier_id"),
        ("shipment_id", "shipment_id"),
        ("filter", "pk"),
    ):
        if name in query:
            found = found.filter(**{field: query[name]})
    if "tracking_number" in query:
        shipments = company.shipments.numbered([query["tracking_number"]])
        found = found.filter(shipment_id__in=shipments.values("pk"))
    start = datetime.combine(query.get("date_from", date.min), time.min, UTC)
    end = datetime.combine(query.get("date_to", date.max), time.max, UTC)
    if "date_from" in query:
        found = found.filter(created_at__gte=start)
    if "date_to" in query:
        found = found.filter(created_at__lte=end)
    if "updated_since" in query:
        found = found.filter(updated_at__gte=query["updated_since"])
    if "q" in query:
        ids, more = searching.find_words(company.pk, query["q"], start, end)
        found, all_found = found.filter(pk__in=ids), not more
    return found, all_found


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
    found: TicketQuerySet,
    query: dict[str, Any],
    wanted: frozenset[Status],
    total: int,
    exact: bool,
) -> list[int]:
    """The tickets of the page, and one more if there are more behind them."""
    if "cursor" in query:
        found = found.behind(last_seen(company, query["cursor"]))
    limit = query["limit"]
    start = (query.get("page", 1) - 1) * limit
    if start >= (total if exact else LARGEST_LIST):
        # Also keeps the largest page numbers from the database, which cannot count so far.
        return []
    # The ids first: what is skipped before a late page is then read from the index alone.
    return ids_of(found, wanted, start, start + limit + 1)


def ids_of(found: TicketQuerySet, wanted: frozenset[Status], start: int, end: int) -> list[int]:
    """The ids of these statuses from `start` to before `end`, in order.

    Each status has a part of an index to itself, in this order. Asked for all at once, PostgreSQL
    would walk over every ticket of a company to find the few that are open.
    """
    if len(wanted) == len(Status):
        return list(found.values_list("pk", flat=True)[start:end])
    each = [
        found.filter(status=status).values_list("pk", "created_at") for status in sorted(wanted)
    ]
    if len(each) == 1:
        rows = each[0]
    else:
        first, *others = (part[:end] for part in each)
        rows = first.union(*others, all=True).order_by("-created_at", "-pk")
    return [pk for pk, _ in rows[start:end]]


def related(tickets: TicketQuerySet) -> TicketQuerySet:
    # What a type says to programs is not part of a row.
    types = ("type__inputs", "type__files", "type__use_case", "type__assistant_notes")
    return tickets.select_related("type", "rating").defer(*types)


def describe_ticket(
    company: Company, ticket_id: int, *, with_comments: bool, base: str
) -> dict[str, Any]:
    """One ticket with its history. Raises Ticket.DoesNotExist."""
    ticket = related(company.tickets.all()).get(pk=ticket_id)
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
    """The tickets as rows, in as many queries for a hundred as for one."""
    shipments = Shipment.objects.filter(company=company).in_bulk(
        {ticket.shipment_id for ticket in tickets if ticket.shipment_id is not None}
    )
    totals = page_bounds.count_comments(page) if with_comments else {}
    documents = by_ticket(Document.objects.filter(ticket__in=tickets))
    files = by_ticket(TicketFile.objects.filter(ticket__in=tickets, public=True))
    requested = by_ticket(RequestedDocument.objects.filter(ticket__in=tickets))
    made = []
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
            newest_first = [comment_row(one, company.name) for one in reversed(newest)]
            row["allComments"] = fitting_rows(newest_first, page_bounds.COMMENT_BYTES)[::-1]
            row["comments_total"] = totals.get(ticket.pk, 0)
        made.append(row)
    return made


def by_ticket(rows: Iterable[Part]) -> dict[int | None, list[Part]]:
    """The rows of each ticket.

    Django's prefetch_related makes a query set for each ticket, which takes longer than all else.
    """
    found: dict[int | None, list[Part]] = defaultdict(list)
    for row in rows:
        found[row.ticket_id].append(row)
    return found


def list_files(company: Company, ticket_id: int, *, base: str) -> list[dict[str, Any]]:
    """The files of a ticket, oldest first. Raises Ticket.DoesNotExist."""
    files = company.tickets.get(pk=ticket_id).files.filter(public=True)
    return [file_row(file, base) for file in files]
