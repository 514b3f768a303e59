"""The first page of the desk: a lead's figures, an agent's own day. And the pages behind it."""

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
from desk.reports.counting import Narrowed
from desk.reports.figures import SPANS, days_up_to_today, in_deployment_zone
from desk.reports.kept import FAIRNESS, FIGURES
from desk.reports.tables import MOST_ROWS, Table
from desk.storms import services as storms
from tickets.models import Agent, Ticket, TicketType
from tickets.statuses import WAITING_FOR_COMPANY

MAY_SEE = "desk.view_figures"


def first_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What unfold's index gets beside its own (`UNFOLD["DASHBOARD_CALLBACK"]`)."""
    context["title"] = gettext("Desk")
    context["day"] = own_day(request)
    if request.user.has_perm(MAY_SEE):
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
            waiting=Count("pk", filter=Q(status__in=WAITING_FOR_COMPANY)),
        )
    )
    return {"agent": agent, **counts}


def lead_page(request: HttpRequest) -> dict[str, Any]:
    asked = requested(request)
    with in_deployment_zone():
        found = FIGURES.answer(asked)
    return {
        "asked_for": asked,
        "spans": SPANS,
        "figures": found,
        "tiles": figure_tables.tiles(found),
        "tables": figure_tables.tables(found, MOST_ROWS),
        "carriers": sorted(filter(None, found.groups["carrier_name"]), key=reading_key),
        "zone": settings.DESK_TIME_ZONE,
        "storms": storms.active_storms(),
        "types": [(one.pk, str(one)) for one in TicketType.objects.all()],
        "agents": Agent.objects.by_name().values_list("pk", "user__username"),
        "asked": request.GET.urlencode(),
        "leavers": Agent.objects.filter(user__is_active=False).holding().select_related("user"),
    }


def requested(request: HttpRequest) -> Narrowed:
    """What the address asks for; what is no such thing is left out."""
    days, kind, agent = (read_id(request.GET.get(name, "")) for name in ("days", "type", "agent"))
    with in_deployment_zone():
        period = days_up_to_today(days if days in SPANS else SPANS[0])
    return Narrowed(period, kind, typed(request, "carrier"), agent_id=agent)


def typed(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "").strip()[:100]


@desk_page(MAY_SEE)
def fairness_page(request: HttpRequest) -> HttpResponse:
    with in_deployment_zone():
        found = FAIRNESS.answer(Narrowed(requested(request).period))
    return draw(
        request,
        "desk/fairness.html",
        gettext("Fairness of assignment"),
        fairness=found,
        table=figure_tables.fairness_table(found),
        spans=SPANS,
        asked=request.GET.urlencode(),
    )


@desk_page(MAY_SEE)
def export_table(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """One of the tables as a file, for the same tickets as the page."""
    asked = requested(request)
    with in_deployment_zone():
        if slug == "fairness":
            tables = [figure_tables.fairness_table(FAIRNESS.answer(Narrowed(asked.period)))]
        else:
            tables = figure_tables.tables(FIGURES.answer(asked))
    return download_table(slug, tables, f"{asked.period.days}-days")


def download_table(slug: str, tables: Iterable[Table], of: str) -> StreamingHttpResponse:
    """The table of this name, with plain numbers. Raises Http404 where there is none."""
    found = {table.slug: table for table in tables}
    if slug not in found:
        raise Http404
    rows = ([cell.value for cell in row] for row in found[slug].rows)
    return csv_files.download(f"{slug}-{of}", found[slug].columns, rows)
