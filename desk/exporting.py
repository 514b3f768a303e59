"""The tickets of a list as CSV: all of them, however many, in little memory."""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from unfold.admin import ModelAdmin

from tickets.models import Ticket
from tickets.statuses import Status

EXPORT = "tickets.export_ticket"
AT_ONCE = 1_000
# What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
COLUMNS = (
    *("ticket", "company", "type", "status", "carrier", "shipment", "agent"),
    *("opened", "updated", "first_answer", "due", "claim_by", "decided", "text"),
)


class Echo:
    """Hands back what is written to it."""

    def write(self, line: str) -> str:
        return line


class ExportPages(ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.export_page)
        return [path("export/", page, name="tickets_ticket_export"), *super().get_urls()]

    def has_export_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(EXPORT) and self.has_view_permission(request)

    def export_page(self, request: HttpRequest) -> StreamingHttpResponse:
        """The same address as the list's, so the same queue, filters and search; newest first."""
        if not self.has_export_permission(request):
            raise PermissionDenied
        tickets = self.get_changelist_instance(request).queryset
        name = f"tickets-{timezone.now():%Y-%m-%d-%H%M}.csv"
        return StreamingHttpResponse(
            lines(tickets),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


def lines(tickets: QuerySet[Ticket]) -> Iterator[str]:
    """With a byte order mark, by which spreadsheets know UTF-8."""
    writer = csv.writer(Echo())
    yield "\ufeff" + writer.writerow(COLUMNS)
    for ticket in one_by_one(tickets):
        yield writer.writerow([harmless(value) for value in cells(ticket)])


def one_by_one(tickets: QuerySet[Ticket]) -> Iterator[Ticket]:
    """By id, so many at a time: no cursor or transaction stays open while somebody reads slowly.

    What is opened meanwhile is left out.
    """
    ordered = tickets.order_by("-pk")
    page: list[Ticket] = list(ordered[:AT_ONCE])
    while page:
        yield from page
        page = list(ordered.filter(pk__lt=page[-1].pk)[:AT_ONCE])


def cells(ticket: Ticket) -> Iterable[Any]:
    yield ticket.pk
    yield ticket.company.name
    yield ticket.type.name
    yield Status(ticket.status).slug
    yield ticket.carrier_name
    yield ticket.shipment_id
    yield str(ticket.agent) if ticket.agent else ""
    yield ticket.created_at
    yield ticket.updated_at
    yield ticket.first_responded_at
    yield ticket.due_at
    yield ticket.filing_due_at
    yield ticket.decided_at
    yield ticket.comments


def harmless(value: Any) -> Any:
    """Text that no spreadsheet runs: an apostrophe before what would be a formula there."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return timezone.localtime(value).isoformat(timespec="seconds")
    if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA):
        return f"'{value}"
    return value
