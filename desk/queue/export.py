"""The tickets of a list as CSV: all of them, however many, in little memory."""

from collections.abc import Iterator

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import URLPattern, path
from django.utils import timezone

from desk.common import csv_files
from desk.common.admin_base import ModelAdmin
from tickets.models import Ticket
from tickets.statuses import Status

EXPORT = "tickets.export_ticket"
AT_ONCE = 1_000
COLUMNS = (
    "ticket",
    "company",
    "type",
    "status",
    "carrier",
    "shipment",
    "agent",
    "opened",
    "updated",
    "first_response",
    "due",
    "claim_by",
    "decided",
    "text",
)


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
        rows = (export_cells(ticket) for ticket in one_by_one(tickets))
        return csv_files.download(f"tickets-{timezone.now():%Y-%m-%d-%H%M}", COLUMNS, rows)


def one_by_one(tickets: QuerySet[Ticket]) -> Iterator[Ticket]:
    """By id, so many at a time: no cursor or transaction stays open while somebody reads slowly.

    What is opened meanwhile is left out.
    """
    ordered = tickets.order_by("-pk")
    page: list[Ticket] = list(ordered[:AT_ONCE])
    while page:
        yield from page
        page = list(ordered.filter(pk__lt=page[-1].pk)[:AT_ONCE])


def export_cells(ticket: Ticket) -> list[object]:
    return [
        ticket.pk,
        ticket.company.name,
        ticket.type.name,
        Status(ticket.status).slug,
        ticket.carrier_name,
        ticket.shipment_id,
        str(ticket.agent) if ticket.agent else "",
        ticket.created_at,
        ticket.updated_at,
        ticket.first_responded_at,
        ticket.due_at,
        ticket.filing_due_at,
        ticket.decided_at,
        ticket.comments,
    ]
