"""The first page of the desk: a lead's figures, an agent's own day. And the pages behind it."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext

from companies.failing_rows import FailingRows
from desk.common import csv_files
from desk.common.cache import cached
from desk.common.requests import staff
from desk.first_run import steps
from desk.reports import counting, fairness, kept_reports, tables
from desk.reports.figures import Scope
from desk.storms import services as storms
from tickets.models import Agent, Ticket, TicketType
from tickets.statuses import PAUSED

FIGURES = "desk.view_figures"
SPANS = (7, 28)
# Leads may look at figures that are so old: who reloads does not count a million rows again.
FRESH_SECONDS = 60


def first_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What unfold's index gets beside its own (`UNFOLD["DASHBOARD_CALLBACK"]`)."""
    context["title"] = gettext("Desk")
    context["day"] = own_day(request)
    if request.user.has_perm(FIGURES):
        context |= lead_page(request)
    context["checklist"] = steps.checklist_of(staff(request))
    return context


def own_day(request: HttpRequest) -> dict[str, Any] | None:
    """What awaits the agent who asks; None for those who are none."""
    agent = Agent.objects.filter(user=staff(request)).with_presence().first()
    if agent is None:
        return None
    counts = (
        Ticket.objects.open()
        .filter(agent=agent)
        .aggregate(
            open=Count("pk"),
            overdue=Count("pk", filter=Q(due_at__lt=timezone.now())),
            waiting=Count("pk", filter=Q(status__in=PAUSED)),
        )
    )
    return {"agent": agent, **counts}


def lead_page(request: HttpRequest) -> dict[str, Any]:
    scope = requested_scope(request)
    return {
        "scope": scope,
        "spans": SPANS,
        "figures": figures_of(scope),
        "zone": settings.DESK_TIME_ZONE,
        "storms": storms.active_storms(),
        "types": [(one.pk, str(one)) for one in TicketType.objects.all()],
        "agents": Agent.objects.by_name().values_list("pk", "user__username"),
        "asked": request.GET.urlencode(),
        "leavers": Agent.objects.filter(user__is_active=False).holding().select_related("user"),
    }


def requested_scope(request: HttpRequest) -> Scope:
    """The scope that the address names; what is no such thing is left out."""

    def number(name: str) -> int | None:
        text = request.GET.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None

    days = number("days")
    carrier = request.GET.get("carrier", "").replace("\x00", "").strip()[:100]
    span = days if days in SPANS else SPANS[0]
    return Scope(span, number("type"), number("agent"), carrier)


def figures_of(scope: Scope) -> tables.Dashboard:
    """CountedFigures for everybody, and put into words for whoever reads."""
    counted = cached(key_of(scope), FRESH_SECONDS, lambda: counting.count_figures_of(scope))
    return tables.dashboard(counted)


def count_ahead() -> int:
    """Count what leads look at first, over all tickets, before they ask; returns how many.

    Raises RuntimeError where none could be counted.
    """
    rows = FailingRows("count_figures")
    counted = sum(rows.do("days of figures", [days], keep_ahead) for days in SPANS)
    rows.do("reports", ["all"], lambda _: kept_reports.keep_reports_ahead())
    if not counted:
        raise RuntimeError("; ".join(rows.failed.values()))
    return counted


def keep_ahead(spans: Sequence[int]) -> None:
    for days in spans:
        scope = Scope(days)
        cache.set(f"desk:{key_of(scope)}", counting.count_figures_of(scope), FRESH_SECONDS)


def key_of(scope: Scope) -> str:
    return "counted:" + ":".join(map(str, scope[:3])) + scope.carrier.encode().hex()


def fairness_of(days: int) -> fairness.Report:
    return cached(f"fairness:{days}", FRESH_SECONDS, lambda: fairness.report(days))


def fairness_page(request: HttpRequest) -> HttpResponse:
    require_figures(request)
    report = fairness_of(requested_scope(request).days)
    context = {
        **admin.site.each_context(request),
        "title": gettext("Fairness of assignment"),
        "report": report,
        "table": tables.fairness_table(report),
        "spans": SPANS,
        "asked": request.GET.urlencode(),
    }
    return TemplateResponse(request, "desk/fairness.html", context)


def export_table(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """One of the tables as a file, for the same scope as the page."""
    require_figures(request)
    scope = requested_scope(request)
    if slug == "fairness":
        table = tables.fairness_table(fairness_of(scope.days))
    else:
        found = {one.slug: one for one in figures_of(scope).tables}
        if slug not in found:
            raise Http404
        table = found[slug]
    return csv_files.download(f"{slug}-{scope.days}-days", table.columns, table.rows)


def require_figures(request: HttpRequest) -> None:
    if not request.user.has_perm(FIGURES):
        raise PermissionDenied
