"""Who did what, for auditors and operators: a page to look at, and the same as a file."""

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
from desk.people.audit_trail import Act, Asked, act_place, acts, known

VIEW = "companies.view_auditentry"
ON_A_PAGE = 50
AT_ONCE = 500
MOST_IN_FILE = 50_000


def day_field(label: StrOrPromise) -> forms.DateField:
    widget = UnfoldAdminTextInputWidget(attrs={"type": "date"})
    return forms.DateField(required=False, label=label, widget=widget)


class AuditForm(forms.Form):
    """What is asked of the audit; every field narrows it. Days are of the reader's zone."""

    since = day_field(gettext_lazy("From"))
    until = day_field(gettext_lazy("To"))
    actor = text_field(gettext_lazy("Who"), 200)
    act = text_field(gettext_lazy("Act"), 50, attrs={"list": "acts"})
    company_id = number_field(gettext_lazy("Company ID"))
    token = text_field(gettext_lazy("Token prefix"), 200)

    def asked(self) -> Asked:
        given = dict(self.cleaned_data)
        since, until = given.pop("since"), given.pop("until")
        first = midnight(since) if since else None
        return Asked(
            since=first, until=midnight(until + timedelta(days=1)) if until else None, **given
        )


@desk_page(VIEW)
def audit_page(request: HttpRequest) -> HttpResponse:
    asked, form = what_is_asked(request)
    found: list[Act] = []
    if asked is not None:
        found = page_from(asked, request.GET.get("before", ""), ON_A_PAGE + 1)
    shown, query = found[:ON_A_PAGE], request.GET.copy()
    query.pop("before", None)
    context: dict[str, Any] = {
        "form": form,
        "shown": shown,
        "known_acts": known("act"),
        "query": query.urlencode(),
        "first": "before" not in request.GET,
    }
    if len(found) > ON_A_PAGE:
        query["before"] = act_place(shown[-1])
        context["older"] = query.urlencode()
    status = 200 if asked is not None else 400
    return draw(request, "desk/audit.html", gettext("Audit"), status=status, **context)


@desk_page(VIEW)
def audit_file(request: HttpRequest) -> HttpResponseBase:
    """What the filters choose, MOST_IN_FILE entries at most; details as the command has them."""
    asked, form = what_is_asked(request)
    if asked is None:
        wrong = form.errors.items()
        return csv_files.refuse_file(f"{form[name].label}: {said[0]}" for name, said in wrong)
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
    rows = map(audit_file_row, audit_rows(asked))
    return csv_files.download("audit", columns, rows)


def audit_file_row(one: Act) -> list[object]:
    given = details_text(one)
    return [one.at, one.actor, one.via, one.act, one.about, given, one.outcome, one.request_id]


def what_is_asked(request: HttpRequest) -> tuple[Asked | None, AuditForm]:
    form = AuditForm(request.GET)
    return (form.asked() if form.is_valid() else None), form


def page_from(asked: Asked, before: str, limit: int) -> list[Act]:
    try:
        return acts(asked, before=before, limit=limit)
    except BadCursor:
        return acts(asked, limit=limit)


def audit_rows(asked: Asked) -> Iterator[Act]:
    """Up to now: what is written while the file is read is not in it."""
    asked = replace(asked, until=asked.until or timezone.now())
    before, left = "", MOST_IN_FILE
    while left > 0:
        found = acts(asked, before=before, limit=min(AT_ONCE, left))
        yield from found
        if len(found) < AT_ONCE:
            return
        before, left = act_place(found[-1]), left - len(found)


def details_text(one: Act) -> str:
    return " ".join(f"{name}={value}" for name, value in one.details.items())
