"""Where the side bar of the desk leads. The queues stand there and nowhere else."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop

from desk.common.pages import VIEW_TICKET
from desk.common.requests import staff
from desk.queue import queues, views

LIST = "admin:tickets_ticket_changelist"
# Title, icon, page and the permission to see it.
OTHERS = (
    (gettext_noop("New ticket"), "add_circle", "admin:tickets_ticket_new", "tickets.add_ticket"),
    (gettext_noop("Overview"), "monitoring", "admin:index", VIEW_TICKET),
    (gettext_noop("Storms"), "thunderstorm", "admin:desk_storm_changelist", "desk.view_storm"),
    (gettext_noop("Reports"), "summarize", "desk_report", "desk.view_figures"),
    (gettext_noop("Fairness"), "balance", "desk_fairness", "desk.view_figures"),
    (gettext_noop("Automations"), "autorenew", "desk_automations", "tickets.view_automation"),
    (gettext_noop("Macros"), "quickreply", "admin:desk_macro_changelist", "desk.view_macro"),
    (
        gettext_noop("Agents"),
        "support_agent",
        "admin:tickets_agent_changelist",
        "tickets.view_agent",
    ),
    (gettext_noop("First run"), "checklist", "desk_first_run", "tickets.change_calendar"),
    (
        gettext_noop("SLA targets"),
        "timer",
        "admin:tickets_slatarget_changelist",
        "tickets.view_slatarget",
    ),
    (
        gettext_noop("Calendars"),
        "calendar_month",
        "admin:tickets_calendar_changelist",
        "tickets.view_calendar",
    ),
    (
        gettext_noop("Filing rules"),
        "event_busy",
        "admin:tickets_filingrule_changelist",
        "tickets.view_filingrule",
    ),
    (
        gettext_noop("Reason codes"),
        "label",
        "admin:tickets_reasoncode_changelist",
        "tickets.view_reasoncode",
    ),
    (
        gettext_noop("Required documents"),
        "checklist",
        "admin:tickets_requireddocument_changelist",
        "tickets.view_requireddocument",
    ),
    (
        gettext_noop("Approval limits"),
        "price_check",
        "admin:tickets_approvallimit_changelist",
        "tickets.view_approvallimit",
    ),
    (
        gettext_noop("Companies"),
        "domain",
        "admin:companies_company_changelist",
        "companies.view_company",
    ),
    (
        gettext_noop("Webhooks"),
        "webhook",
        "admin:webhooks_webhook_changelist",
        "webhooks.view_webhook",
    ),
    (
        gettext_noop("Sending"),
        "outbox",
        "admin:webhooks_webhook_sending",
        "deliveries.view_heldhost",
    ),
    (
        gettext_noop("Missing events"),
        "troubleshoot",
        "admin:tickets_ticket_events",
        "deliveries.view_delivery",
    ),
    (
        gettext_noop("Replays"),
        "replay",
        "admin:deliveries_replay_changelist",
        "deliveries.view_replay",
    ),
    (
        gettext_noop("Failed rows"),
        "report",
        "admin:core_failedrow_changelist",
        "core.view_failedrow",
    ),
    (gettext_noop("Users"), "group", "admin:auth_user_changelist", "auth.view_user"),
    (gettext_noop("Audit"), "policy", "desk_audit", "companies.view_auditentry"),
)
# Pages that agents find by the palette or from a ticket, and whose permission puts them here.
SELDOM = {
    "admin:desk_storm_changelist": "desk.answer_storm",
    "admin:webhooks_webhook_changelist": "webhooks.pause_webhook",
    "admin:tickets_ticket_events": "webhooks.pause_webhook",
}


def navigation(request: HttpRequest, *, seldom: bool = False) -> list[dict[str, Any]]:
    """The groups of the side bar; with `seldom`, all pages that the user may see."""
    groups = []
    if request.user.has_perm(VIEW_TICKET):
        saved = view_items(request)
        lit = any(item["active"](request) for item in saved)
        groups.append({"title": gettext("Queues"), "items": queue_items(request, elsewhere=lit)})
        if saved:
            groups.append({"title": gettext("Saved views"), "items": saved})
    others = [
        {"title": capfirst(gettext(title)), "icon": icon, "link": reverse(page)}
        for title, icon, page, permission in OTHERS
        if request.user.has_perm(permission)
        and (seldom or request.user.has_perm(SELDOM.get(page, permission)))
    ]
    # A page may lie below another: the nearest is where we are.
    below = [each for each in others if each["link"] in request.path]
    for each in sorted(below, key=lambda item: len(item["link"]))[:-1]:
        each["active"] = is_active(False)
    return [*groups, {"title": gettext("Desk"), "items": others}] if others else groups


def queue_items(request: HttpRequest, *, elsewhere: bool = False) -> list[dict[str, Any]]:
    """Told apart by what the list shows: Unfold itself compares paths, and lights up them all."""
    address = reverse(LIST)
    there = request.path == address
    searching = bool(request.GET.get("q", "").strip())
    current = queues.current_queue(request, searching=searching) if there else None
    known = queues.queue_counts(request)
    return [
        {
            "title": queue.title,
            "icon": queue.icon,
            "link": f"{address}?queue={queue.slug}",
            "active": is_active(queue == current and not elsewhere),
            "badge": known.badge(queue),
            "badge_variant": "danger" if queue.slug == "overdue" else "primary",
        }
        for queue in queues.queues_for(staff(request))
        if queue.slug != "snoozed" or queue == current or known.badge(queue)
    ]


def view_items(request: HttpRequest) -> list[dict[str, Any]]:
    """One is where the list is just as it was saved."""
    address = reverse(LIST)
    shown = views.clean_query(request.GET.urlencode()) if request.path == address else None
    return [
        {
            "title": view.name,
            "icon": "group" if view.shared else "bookmark",
            "link": f"{address}?{view.query}",
            "active": is_active(view.query == shown),
            "badge": queues.short_count(view.size or 0),
            "badge_variant": "primary",
        }
        for view in views.items_for(request)
    ]


def is_active(here: bool) -> Any:
    """As Unfold asks for it: a bare False would make it compare paths again."""
    return lambda request: here
