"""The start page, with a lead's figures and an agent's day, and the pages that it links to."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from core.data.reading_order import reading_key
from core.values.ids import read_id
from desk.common import csv_files
from desk.common.pages import desk_page, draw
from desk.common.requests import staff
from desk.first_run import steps
from desk.reports import figure_tables
from desk.reports.counting import Scope
from desk.reports.figure_cache import FAIRNESS, FIGURES
from desk.reports.figures import SPANS, days_up_to_today, in_deployment_zone
from desk.reports.tables import MOST_ROWS, Table
from desk.storms import services as storms
from tickets.models import Agent, Ticket, TicketType
from tickets.statuses import WAITING_FOR_COMPANY

MAY_SEE = "desk.view_figures"


def first_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Extend the context of Unfold's index page (`UNFOLD["DASHBOARD_CALLBACK"]`)."""
    context["title"] = gettext("Desk")
    context["day"] = own_day(request)
    if request.user.has_perm(MAY_SEE):
        context |= lead_page(request)
    context["checklist"] = steps.checklist_of(staff(request))
    return context


def own_day(request: HttpRequest) -> dict[str, Any] | None:
    """Count the user's open tickets; None if they are not an agent."""
    agent = Agent.objects.filter(user=staff(request)).with_presence().first()
    if agent is None:
        return None
    counts = (
        Ticket.objects.open()
        .filter(agent=agent)
        .aggregate(
            open=Count("pk"),
            overdue=Count("pk", filter=Q(due_at__lt=timezone.now())),
            waiting=Count("pk", filter=Q(status__in=WAITING_FOR_COMPANY)),
        )
    )
    return {"agent": agent, **counts}


def lead_page(request: HttpRequest) -> dict[str, Any]:
    scope = scope_of(request)
    with in_deployment_zone():
        figures = FIGURES.answer(scope)
    return {
        "asked_for": scope,
        "spans": SPANS,
        "figures": figures,
        "tiles": figure_tables.tiles(figures),
        "tables": figure_tables.tables(figures, MOST_ROWS),
        "carriers": sorted(filter(None, figures.groups["carrier_name"]), key=reading_key),
        "zone": settings.DESK_TIME_ZONE,
        "storms": storms.active_storms(),
        "types": [(one.pk, str(one)) for one in TicketType.objects.all()],
        "agents": Agent.objects.by_name().values_list("pk", "user__username"),
        "asked": request.GET.urlencode(),
        "leavers": Agent.objects.filter(user__is_active=False).holding().select_related("user"),
    }


def scope_of(request: HttpRequest) -> Scope:
    """Read the scope from the query string; invalid values are ignored."""
    days, kind, agent = (read_id(request.GET.get(name, "")) for name in ("days", "type", "agent"))
    with in_deployment_zone():
        period = days_up_to_today(days if days in SPANS else SPANS[0])
    return Scope(period, kind, typed(request, "carrier"), agent_id=agent)


def typed(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "").strip()[:100]


@desk_page(MAY_SEE)
def fairness_page(request: HttpRequest) -> HttpResponse:
    with in_deployment_zone():
        fairness = FAIRNESS.answer(Scope(scope_of(request).period))
    return draw(
        request,
        "desk/fairness.html",
        gettext("Fairness of assignment"),
        fairness=fairness,
        table=figure_tables.fairness_table(fairness),
        spans=SPANS,
        asked=request.GET.urlencode(),
    )


@desk_page(MAY_SEE)
def export_table(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Export one of the tables as CSV, for the same tickets as the page."""
    scope = scope_of(request)
    with in_deployment_zone():
        if slug == "fairness":
            tables = [figure_tables.fairness_table(FAIRNESS.answer(Scope(scope.period)))]
        else:
            tables = figure_tables.tables(FIGURES.answer(scope))
    return download_table(slug, tables, f"{scope.period.days}-days")


def download_table(slug: str, tables: Iterable[Table], of: str) -> StreamingHttpResponse:
    """Export the table of this slug as CSV with plain numbers. Raises Http404."""
    by_slug = {table.slug: table for table in tables}
    if slug not in by_slug:
        raise Http404
    rows = ([cell.value for cell in row] for row in by_slug[slug].rows)
    return csv_files.download(f"{slug}-{of}", by_slug[slug].columns, rows)
