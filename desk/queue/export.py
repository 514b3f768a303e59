"""Export of a list of tickets as CSV, streamed in constant memory."""

from collections.abc import Iterator, Mapping
from copy import copy
from itertools import islice
from urllib.parse import urlencode

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import F, QuerySet
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext, pgettext

from core.values.currencies import exact_amount
from core.values.zones import in_zone
from desk.common import csv_files
from desk.common.pages import VIEW_TICKET, desk_page
from desk.queue.changelist import ticket_list
from tickets.labels import status_label
from tickets.models import ReasonCode, Ticket
from tickets.models.tickets import parcel_column
from tickets.stated_fields import STATED_FIELDS, stated_values

EXPORT = "tickets.export_ticket"
UNKNOWN = (IncorrectLookupParameters, DisallowedModelAdminLookup)
AT_ONCE = 1_000
# A URL written by hand has fewer parameters than this.
MOST_TRIED = 30


@desk_page(EXPORT, VIEW_TICKET)
def export_page(request: HttpRequest) -> HttpResponseBase:
    """Export the tickets of a list, newest first; the query string is the list's.

    The list ignores an unknown filter. A file is refused: it would have other tickets.
    """
    try:
        changelist = ticket_list(request)
    except UNKNOWN:
        text = gettext("The list has no filter %(names)s. Nothing was exported.")
        names = ", ".join(unknown_filters(request))
        return csv_files.refuse_file([text % {"names": names}])
    if changelist.problems:
        return csv_files.refuse_file([*changelist.problems, gettext("Nothing was exported.")])
    reasons = {one.code: str(one) for one in ReasonCode.objects.all()}
    tickets = with_names(changelist.queryset)
    rows = (export_cells(ticket, reasons) for ticket in one_by_one(tickets))
    name = f"tickets-{timezone.localtime():%Y-%m-%d-%H%M}"
    return csv_files.download(name, export_columns(), rows)


def unknown_filters(request: HttpRequest) -> list[str]:
    """Return the names of unknown filters among the first MOST_TRIED parameters."""
    unknown: list[str] = []
    alone = copy(request)
    for name, values in islice(request.GET.lists(), MOST_TRIED):
        vars(alone)["GET"] = QueryDict(urlencode({name: values}, doseq=True))
        try:
            ticket_list(alone)
        except UNKNOWN:
            unknown.append(name)
    return unknown


def one_by_one(tickets: QuerySet[Ticket]) -> Iterator[Ticket]:
    """Yield the tickets by descending id, reading AT_ONCE at a time.

    No cursor or transaction stays open for a slow client. Tickets opened meanwhile are left out.
    """
    ordered = tickets.order_by("-pk")
    page: list[Ticket] = list(ordered[:AT_ONCE])
    while page:
        yield from page
        page = list(ordered.filter(pk__lt=page[-1].pk)[:AT_ONCE])


def with_names(tickets: QuerySet[Ticket]) -> QuerySet[Ticket]:
    """Annotate `decider`, and `tracking_number` if the parcel is the company's own."""
    number = parcel_column("tracking_number")
    return tickets.annotate(tracking_number=number, decider=F("decided_by__username"))


def export_columns() -> list[str]:
    """Return the headings in the reader's language; times name their zone. Add new ones last."""
    times = [
        pgettext("ticket", "opened"),
        gettext("updated"),
        gettext("first response"),
        gettext("due"),
        gettext("claim deadline"),
        pgettext("ticket", "decided"),
    ]
    return [
        gettext("ticket"),
        gettext("company"),
        gettext("type"),
        gettext("status"),
        gettext("carrier"),
        gettext("tracking number"),
        gettext("shipment"),
        gettext("agent"),
        gettext("decided by"),
        gettext("reason code"),
        gettext("claimed"),
        gettext("offered"),
        gettext("paid"),
        gettext("currency"),
        *map(in_zone, times),
        gettext("text"),
        *(gettext(one.label) for one in STATED_FIELDS),
    ]


def export_cells(ticket: Ticket, reasons: Mapping[str, str]) -> list[object]:
    money = [
        None if one is None else exact_amount(one, ticket.currency) for _, one in ticket.amounts
    ]
    return [
        ticket.pk,
        ticket.company.name,
        str(ticket.type),
        status_label(ticket.status),
        ticket.carrier_name,
        getattr(ticket, "tracking_number", None),
        ticket.shipment_id,
        str(ticket.agent) if ticket.agent else "",
        getattr(ticket, "decider", None),
        reasons.get(ticket.reason_code, ticket.reason_code),
        *money,
        ticket.currency,
        ticket.created_at,
        ticket.updated_at,
        ticket.first_responded_at,
        ticket.due_at,
        ticket.filing_due_at,
        ticket.decided_at,
        ticket.comments,
        *stated_values(ticket).values(),
    ]
