"""The tickets of a list as CSV: all of them, however many, in little memory."""

from collections.abc import Iterator
from copy import copy
from itertools import islice
from urllib.parse import urlencode

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext

from desk.common import csv_files
from desk.common.admin_base import ModelAdmin
from tickets.models import Ticket
from tickets.statuses import Status

EXPORT = "tickets.export_ticket"
UNKNOWN = (IncorrectLookupParameters, DisallowedModelAdminLookup)
AT_ONCE = 1_000
# Nobody types more filters.
MOST_TRIED = 30
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

    def export_page(self, request: HttpRequest) -> HttpResponseBase:
        """The same address as the list's, so the same queue, filters and search; newest first.

        The list leaves out a filter that it does not know; a file would be of other tickets.
        """
        if not self.has_export_permission(request):
            raise PermissionDenied
        try:
            tickets = self.get_changelist_instance(request).queryset
        except UNKNOWN:
            text = gettext("The list has no filter %(names)s. Nothing was exported.")
            names = ", ".join(self.unknown_filters(request))
            return csv_files.refuse_file([text % {"names": names}])
        rows = (export_cells(ticket) for ticket in one_by_one(tickets))
        return csv_files.download(f"tickets-{timezone.now():%Y-%m-%d-%H%M}", COLUMNS, rows)

    def unknown_filters(self, request: HttpRequest) -> list[str]:
        """Name the parameters that the list cannot be narrowed by, of the first MOST_TRIED."""
        unknown: list[str] = []
        alone = copy(request)
        for name, values in islice(request.GET.lists(), MOST_TRIED):
            vars(alone)["GET"] = QueryDict(urlencode({name: values}, doseq=True))
            try:
                self.get_changelist_instance(alone)
            except UNKNOWN:
                unknown.append(name)
        return unknown


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
