"""A company's tickets as it may see them. Nothing of another company ever comes in (T12)."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, time
from typing import Any

from django.db.models import Count

from companies.api.bodies import WrongField
from companies.models import Company
from shipments.models import Shipment
from tickets.api.representation import appeal_row, file_row, history_rows, ticket_row
from tickets.changes.appeals import latest_appeal
from tickets.changes.shown import comment_row
from tickets.models import Comment, Ticket
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import OPEN, TERMINAL, Status

GROUPS = {"active": OPEN, "resolved": TERMINAL}


def list_tickets(company: Company, query: dict[str, Any], *, base: str) -> dict[str, Any]:
    """One page of the company's tickets, newest first, and how many there are.

    `query` is what ListQuery reads, `base` the service's own address. The counts ignore the
    query's status. `next_cursor` asks for the rows behind the last one and is null at the end;
    unlike `page` it costs the same however deep the list is, and rows that appear meanwhile shift
    nothing. Raises WrongField.
    """
    found = matching(company, query)
    by_status = dict(found.order_by().values_list("status").annotate(n=Count("*")))
    wanted = statuses(query)
    total = sum(by_status.get(status, 0) for status in wanted)
    if len(wanted) < len(Status):
        found = found.filter(status__in=sorted(wanted))
    if "cursor" in query:
        found = found.behind(last_seen(company, query["cursor"]))
    tickets, more = one_page(found, query, total)
    return {
        "data": ticket_rows(company, tickets, with_comments=query["getComments"], base=base),
        "total_rows": total,
        "counts": {
            name: sum(by_status.get(status, 0) for status in group)
            for name, group in GROUPS.items()
        },
        "next_cursor": tickets[-1].pk if more else None,
    }


def matching(company: Company, query: dict[str, Any]) -> TicketQuerySet:
    """The company's tickets by everything that was asked for but the status."""
    found = company.tickets.newest()
    for name, field in (
        ("type", "type"),
        ("ticket_type_id", "type"),
        ("carrier_id", "carrier_id"),
        ("filter", "pk"),
    ):
        if name in query:
            found = found.filter(**{field: query[name]})
    if "tracking_number" in query:
        shipments = company.shipments.filter(tracking_number=query["tracking_number"])
        found = found.filter(shipment_id__in=shipments.values("pk"))
    if "date_from" in query:
        start = datetime.combine(query["date_from"], time.min, UTC)
        found = found.filter(created_at__gte=start)
    if "date_to" in query:
        end = datetime.combine(query["date_to"], time.max, UTC)
        found = found.filter(created_at__lte=end)
    return found


def statuses(query: dict[str, Any]) -> frozenset[Status]:
    for name in ("status", "ticket_status_id"):
        if name in query:
            return frozenset({query[name]})
    return GROUPS.get(query.get("status_group", ""), frozenset(Status))


def last_seen(company: Company, ticket_id: int) -> Ticket:
    last = company.tickets.filter(pk=ticket_id).first()
    if last is None:
        raise WrongField("cursor", "Send the next_cursor of an answer.", code="invalid_cursor")
    return last


def one_page(found: TicketQuerySet, query: dict[str, Any], total: int) -> tuple[list[Ticket], bool]:
    """The tickets of the page, and whether there are more behind it."""
    limit = query["limit"]
    start = (query.get("page", 1) - 1) * limit
    if start >= total:
        # Also keeps the largest page numbers from the database, which cannot count so far.
        return [], False
    # The ids first: what is skipped before a late page is then read from the index alone.
    ids = list(found.values_list("pk", flat=True)[start : start + limit + 1])
    return list(related(Ticket.objects.newest().filter(pk__in=ids[:limit]))), len(ids) > limit


def related(tickets: TicketQuerySet) -> TicketQuerySet:
    # What a type says to programs is not part of a row.
    types = ("type__inputs", "type__files", "type__use_case", "type__assistant_notes")
    found = tickets.select_related("type", "rating")
    found = found.prefetch_related("documents", "files", "requested_documents")
    return found.defer(*types)


def describe_ticket(
    company: Company, ticket_id: int, *, with_comments: bool, base: str
) -> dict[str, Any]:
    """One ticket with its history. Raises Ticket.DoesNotExist."""
    ticket = related(company.tickets.all()).get(pk=ticket_id)
    (row,) = ticket_rows(company, [ticket], with_comments=with_comments, base=base)
    history = list(ticket.history.filter(public=True))
    row["history"] = history_rows(history)
    row["appeal"] = appeal_row(latest_appeal(ticket, history))
    return row


def list_comments(company: Company, ticket_id: int) -> list[dict[str, Any]]:
    """The public comments of a ticket, oldest first. Raises Ticket.DoesNotExist."""
    ticket = company.tickets.get(pk=ticket_id)
    return [
        comment_row(comment, company.name) for comment in ticket.conversation.filter(public=True)
    ]


def ticket_rows(
    company: Company, tickets: Sequence[Ticket], *, with_comments: bool, base: str
) -> list[dict[str, Any]]:
    """The tickets as rows, in as many queries for a hundred as for one."""
    shipments = Shipment.objects.filter(company=company).in_bulk(
        {ticket.shipment_id for ticket in tickets if ticket.shipment_id is not None}
    )
    comments = public_comments(tickets, only_last=not with_comments)
    made = []
    for ticket in tickets:
        shipment, said = shipments.get(ticket.shipment_id), comments[ticket.pk]
        row = ticket_row(ticket, shipment, said, base=base)
        if with_comments:
            row["allComments"] = [comment_row(one, company.name) for one in said]
        made.append(row)
    return made


def public_comments(tickets: Sequence[Ticket], *, only_last: bool) -> dict[int, list[Comment]]:
    found = Comment.objects.filter(ticket__in=[ticket.pk for ticket in tickets], public=True)
    if only_last:
        found = found.order_by("ticket", "-pk").distinct("ticket")
    by_ticket = defaultdict(list)
    for comment in found:
        by_ticket[comment.ticket_id].append(comment)
    return by_ticket


def list_files(company: Company, ticket_id: int, *, base: str) -> list[dict[str, Any]]:
    """The files of a ticket, oldest first. Raises Ticket.DoesNotExist."""
    return [file_row(file, base) for file in company.tickets.get(pk=ticket_id).files.all()]
