"""Audit log for auditors and operators: a page, and the same as a CSV file."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from core.values.zones import in_zone
from deliveries.monitoring.log import BadCursor
from desk.common import csv_files
from desk.common.fields import number_field, text_field
from desk.common.generics import StrOrPromise
from desk.common.pages import desk_page, draw
from desk.common.times import midnight
from desk.people.audit_trail import Act, AuditFilters, act_place, acts, known_values

VIEW = "companies.view_auditentry"
ON_A_PAGE = 50
AT_ONCE = 500
MOST_IN_FILE = 50_000


def day_field(label: StrOrPromise) -> forms.DateField:
    widget = UnfoldAdminTextInputWidget(attrs={"type": "date"})
    return forms.DateField(required=False, label=label, widget=widget)


class AuditForm(forms.Form):
    """Filters of the audit log, combined with AND; days are in the reader's zone."""

    since = day_field(gettext_lazy("From"))
    until = day_field(gettext_lazy("To"))
    actor = text_field(gettext_lazy("Who"), 200)
    act = text_field(gettext_lazy("Act"), 50, attrs={"list": "acts"})
    company_id = number_field(gettext_lazy("Company ID"))
    token = text_field(gettext_lazy("Token prefix"), 200)

    def filters(self) -> AuditFilters:
        filters = dict(self.cleaned_data)
        since, until = filters.pop("since"), filters.pop("until")
        first = midnight(since) if since else None
        return AuditFilters(
            since=first, until=midnight(until + timedelta(days=1)) if until else None, **filters
        )


@desk_page(VIEW)
def audit_page(request: HttpRequest) -> HttpResponse:
    filters, form = read_filters(request)
    entries: list[Act] = []
    if filters is not None:
        entries = read_page(filters, request.GET.get("before", ""), ON_A_PAGE + 1)
    page_entries, query = entries[:ON_A_PAGE], request.GET.copy()
    query.pop("before", None)
    context: dict[str, Any] = {
        "form": form,
        "shown": page_entries,
        "known_acts": known_values("act"),
        "query": query.urlencode(),
        "first": "before" not in request.GET,
    }
    if len(entries) > ON_A_PAGE:
        query["before"] = act_place(page_entries[-1])
        context["older"] = query.urlencode()
    status = 200 if filters is not None else 400
    return draw(request, "desk/audit.html", gettext("Audit"), status=status, **context)


@desk_page(VIEW)
def audit_file(request: HttpRequest) -> HttpResponseBase:
    """Download the filtered entries, at most MOST_IN_FILE; details are written as `audit` does."""
    filters, form = read_filters(request)
    if filters is None:
        wrong = form.errors.items()
        return csv_files.refuse_file(
            f"{form[name].label}: {problems[0]}" for name, problems in wrong
        )
    columns = [
        in_zone(gettext("When")),
        gettext("Who"),
        gettext("By"),
        gettext("Act"),
        gettext("What"),
        gettext("Details"),
        gettext("Outcome"),
        gettext("Request"),
    ]
    rows = map(audit_file_row, audit_rows(filters))
    return csv_files.download("audit", columns, rows)


def audit_file_row(one: Act) -> list[object]:
    details = details_text(one)
    return [one.at, one.actor, one.via, one.act, one.about, details, one.outcome, one.request_id]


def read_filters(request: HttpRequest) -> tuple[AuditFilters | None, AuditForm]:
    form = AuditForm(request.GET)
    return (form.filters() if form.is_valid() else None), form


def read_page(filters: AuditFilters, before: str, limit: int) -> list[Act]:
    try:
        return acts(filters, before=before, limit=limit)
    except BadCursor:
        return acts(filters, limit=limit)


def audit_rows(filters: AuditFilters) -> Iterator[Act]:
    """Read entries in batches, without those written after the download began."""
    filters = replace(filters, until=filters.until or timezone.now())
    before, remaining = "", MOST_IN_FILE
    while remaining > 0:
        entries = acts(filters, before=before, limit=min(AT_ONCE, remaining))
        yield from entries
        if len(entries) < AT_ONCE:
            return
        before, remaining = act_place(entries[-1]), remaining - len(entries)


def details_text(one: Act) -> str:
    return " ".join(f"{name}={value}" for name, value in one.details.items())
