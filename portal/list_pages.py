"""List of a company's tickets, with search."""

from collections.abc import Iterable, Sequence

from django.db.models import Q
from django.http import HttpResponse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe

from companies.models import Company
from core.values.ids import read_id
from core.values.spellings import typed_id
from core.values.zones import active_zone, zone_name
from portal.visitors import VisitorRequest, company_page, render_page
from tickets.api import queries
from tickets.api.searching import MOST_FOUND
from tickets.models import Ticket
from tickets.models.tickets import TicketQuerySet, parcel_column
from tickets.statuses import OPEN, TERMINAL, WAITING_FOR_COMPANY, Status

PAGE = 25
# More are "1,000 or more".
MOST_COUNTED = 1_000
LONGEST_SEARCH = 200
TABS = {
    "needs-you": (gettext_lazy("Needs you"), WAITING_FOR_COMPANY),
    "open": (pgettext_lazy("tickets", "Open"), OPEN),
    "decided": (pgettext_lazy("tickets", "Decided"), TERMINAL),
}


@require_safe
@company_page()
def tickets_page(request: VisitorRequest) -> HttpResponse:
    """Show a tab of the company's tickets, or those that a search finds; the newest first."""
    company, query = request.visitor.company, request.GET
    words = query.get("q", "").replace("\x00", " ").strip()[:LONGEST_SEARCH]
    counts = {name: count_some(company, statuses) for name, (_, statuses) in TABS.items()}
    show = query.get("show", "")
    if show not in TABS:
        show = "needs-you" if counts["needs-you"] else "open"
    tickets, are_all = search(company, words) if words else (company.tickets.newest(), True)
    after = read_id(query.get("after", ""))
    last = company.tickets.only("created_at").filter(pk=after).first() if after else None
    if last is not None:
        tickets = tickets.after(last)
    ids = queries.ids_of(tickets, frozenset(Status) if words else TABS[show][1], 0, PAGE + 1)
    context = {
        "words": words,
        "show": show,
        "tabs": [(name, label, count_text(counts[name])) for name, (label, _) in TABS.items()],
        "tickets": tickets_of(company, ids[:PAGE]),
        "waiting": WAITING_FOR_COMPANY,
        "now": timezone.now(),
        "zone": zone_name(active_zone(), timezone.now()),
        "query": urlencode({"q": words} if words else {"show": show}),
        "is_later_page": last is not None,
        "older": ids[PAGE - 1] if len(ids) > PAGE else None,
        "more_exist": not are_all,
    }
    return render_page(request, "tickets.html", context)


def search(company: Company, words: str) -> tuple[TicketQuerySet, bool]:
    """Find tickets by their number or tracking number, else by words.

    Also returns whether these are all: words find only the newest thousand.
    """
    numbered = company.shipments.numbered([words]).values_list("pk", flat=True)[:MOST_FOUND]
    exact = Q(pk=typed_id(words.removeprefix("#")) or 0) | Q(shipment_id__in=list(numbered))
    if ids := list(company.tickets.filter(exact).values_list("pk", flat=True)[:MOST_FOUND]):
        return company.tickets.newest().filter(pk__in=ids), True
    return queries.matching(company, {"q": words})


def count_some(company: Company, statuses: Iterable[Status]) -> int:
    """Count a company's tickets in these statuses, up to MOST_COUNTED."""
    rows = queries.ids_of(company.tickets.newest(), frozenset(statuses), 0, MOST_COUNTED)
    return len(rows)


def count_text(count: int) -> str:
    number = number_format(count, force_grouping=True)
    if count < MOST_COUNTED:
        return number
    return gettext("%(number)s or more") % {"number": number}


def tickets_of(company: Company, ids: Sequence[int]) -> list[Ticket]:
    """Return the tickets of a page in its order, in one query."""
    columns = ("company", "type__name", "status", "shipment_id", "filing_due_at", "updated_at")
    tickets = company.tickets.select_related("type").only(*columns)
    by_id = tickets.annotate(tracking_number=parcel_column("tracking_number")).in_bulk(ids)
    return [by_id[ticket_id] for ticket_id in ids if ticket_id in by_id]
