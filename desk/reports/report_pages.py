"""The page of a report, and the export of its tables."""

from datetime import date, timedelta
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext

from companies.models import Company
from core.data.reading_order import reading_key
from core.values.ids import read_id
from desk.common import csv_files
from desk.common.pages import desk_page, draw
from desk.common.search_names import company_by_id_or_name
from desk.reports import report_tables
from desk.reports.counting import Scope
from desk.reports.dashboard import MAY_SEE, download_table, typed
from desk.reports.figure_cache import REPORTS, quick_periods
from desk.reports.figures import days_up_to_today
from desk.reports.measures import Period
from desk.reports.tables import MOST_ROWS
from tickets.models import TicketType

USUAL_DAYS, MOST_DAYS = 30, 366


class Question:
    """The scope of a report, parsed from the query string, and the errors in it."""

    def __init__(self, request: HttpRequest) -> None:
        self.values = {
            name: typed(request, name) for name in ("from", "to", "type", "carrier", "company")
        }
        self.errors: list[str] = []
        self.company = self.company_named(self.values["company"])
        company_id = self.company.pk if self.company else None
        self.scope = Scope(
            self.period(), read_id(self.values["type"]), self.values["carrier"], company_id
        )

    @property
    def first(self) -> str:
        """Value of the field From: as typed, else the first day of the report."""
        return self.values["from"] or self.scope.period.first.isoformat()

    @property
    def last(self) -> str:
        return self.values["to"] or self.scope.period.last.isoformat()

    def period(self) -> Period:
        today = timezone.localdate()
        last = self.day("to", today)
        first = self.day("from", last - timedelta(days=USUAL_DAYS - 1))
        if first > last:
            self.errors.append(gettext("From must not be after To."))
        elif (last - first).days >= MOST_DAYS:
            self.errors.append(gettext("A report covers 366 days at most."))
        else:
            return Period(first, last)
        return days_up_to_today(USUAL_DAYS)

    def day(self, name: str, otherwise: date) -> date:
        try:
            day = parse_date(self.values[name])
        except ValueError:
            day = None
        if day is not None and 2000 <= day.year <= 9000:
            return day
        if self.values[name]:
            label = gettext("From") if name == "from" else gettext("To")
            self.errors.append(gettext("%(field)s: enter a day.") % {"field": label})
        return otherwise

    def company_named(self, name: str) -> Company | None:
        if not name:
            return None
        company = company_by_id_or_name(name)
        if company is None:
            self.errors.append(gettext("Company: there is none of this name."))
        return company


@desk_page(MAY_SEE)
def report_page(request: HttpRequest) -> HttpResponse:
    question = Question(request)
    report = REPORTS.answer(question.scope)
    filters = {name: question.values[name] for name in ("type", "carrier", "company")}
    filters = {name: value for name, value in filters.items() if value}
    return draw(
        request,
        "desk/report.html",
        gettext("Reports"),
        status=400 if question.errors else 200,
        report=report,
        tables=report_tables.tables(report, MOST_ROWS),
        question=question,
        period=question.scope.period,
        types=[(one.pk, str(one)) for one in TicketType.objects.all()],
        carriers=sorted(filter(None, report.groups["carrier_name"]), key=reading_key),
        periods=quick_periods(),
        narrowed="".join(f"&{urlencode({name: value})}" for name, value in filters.items()),
        asked=request.GET.urlencode(),
    )


@desk_page(MAY_SEE)
def report_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Export one of the tables as CSV, for the same period and tickets as the page."""
    question = Question(request)
    tables = report_tables.tables(REPORTS.answer(question.scope))
    period = question.scope.period
    if question.errors and any(table.slug == slug for table in tables):
        return csv_files.refuse_file(question.errors)
    return download_table(slug, tables, f"{period.first}-{period.last}")
