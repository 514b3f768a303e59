"""Items of the desk's side bar: queues, saved views and pages."""

from typing import Any, NamedTuple

from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop

from desk.common.pages import VIEW_TICKET
from desk.common.requests import staff
from desk.queue import queues, views

LIST = "admin:tickets_ticket_changelist"


class Page(NamedTuple):
    """A page of the side bar, and the permission to see it."""

    title: str
    icon: str
    address: str
    permission: str


def list_of(title: str, icon: str, table: str) -> Page:
    """Build the item for a table's list, for users who may view its rows."""
    app, model = table.split(".")
    return Page(title, icon, f"admin:{app}_{model}_changelist", f"{app}.view_{model}")


OTHERS = (
    Page(
        gettext_noop("New ticket"), "add_circle", "admin:tickets_ticket_new", "tickets.add_ticket"
    ),
    Page(gettext_noop("Overview"), "monitoring", "admin:index", VIEW_TICKET),
    list_of(gettext_noop("Storms"), "thunderstorm", "desk.storm"),
    Page(gettext_noop("Reports"), "summarize", "desk_report", "desk.view_figures"),
    Page(gettext_noop("Fairness"), "balance", "desk_fairness", "desk.view_figures"),
    Page(gettext_noop("Automations"), "autorenew", "desk_automations", "tickets.view_automation"),
    list_of(gettext_noop("Macros"), "quickreply", "desk.macro"),
    list_of(gettext_noop("Agents"), "support_agent", "tickets.agent"),
    Page(gettext_noop("First run"), "checklist", "desk_first_run", "tickets.change_calendar"),
    list_of(gettext_noop("SLA targets"), "timer", "tickets.slatarget"),
    list_of(gettext_noop("Calendars"), "calendar_month", "tickets.calendar"),
    list_of(gettext_noop("Filing rules"), "event_busy", "tickets.filingrule"),
    list_of(gettext_noop("Reason codes"), "label", "tickets.reasoncode"),
    list_of(gettext_noop("Required documents"), "checklist", "tickets.requireddocument"),
    list_of(gettext_noop("Approval limits"), "price_check", "tickets.approvallimit"),
    list_of(gettext_noop("Companies"), "domain", "companies.company"),
    list_of(gettext_noop("Webhooks"), "webhook", "webhooks.webhook"),
    Page(
        gettext_noop("Sending"),
        "outbox",
        "admin:webhooks_webhook_sending",
        "deliveries.view_heldhost",
    ),
    Page(
        gettext_noop("Missing events"),
        "troubleshoot",
        "admin:tickets_ticket_events",
        "deliveries.view_delivery",
    ),
    list_of(gettext_noop("Replays"), "replay", "deliveries.replay"),
    list_of(gettext_noop("Failed rows"), "report", "core.failedrow"),
    list_of(gettext_noop("Users"), "group", "auth.user"),
    Page(gettext_noop("Audit"), "policy", "desk_audit", "companies.view_auditentry"),
)
# Pages that most agents reach by the palette or from a ticket; these permissions show them here.
SELDOM = {
    "admin:desk_storm_changelist": "desk.answer_storm",
    "admin:webhooks_webhook_changelist": "webhooks.pause_webhook",
    "admin:tickets_ticket_events": "webhooks.pause_webhook",
}


def navigation(request: HttpRequest, *, seldom: bool = False) -> list[dict[str, Any]]:
    """Build the groups of the side bar; `seldom` includes all pages that the user may see."""
    groups = []
    if request.user.has_perm(VIEW_TICKET):
        saved = view_items(request)
        in_view = any(item["active"](request) for item in saved)
        queue_list = queue_items(request, elsewhere=in_view)
        groups.append({"title": gettext("Queues"), "items": queue_list})
        if saved:
            groups.append({"title": gettext("Saved views"), "items": saved})
    others = [
        {"title": capfirst(gettext(page.title)), "icon": page.icon, "link": reverse(page.address)}
        for page in OTHERS
        if request.user.has_perm(page.permission)
        and (seldom or request.user.has_perm(SELDOM.get(page.address, page.permission)))
    ]
    # A page's URL may begin with another's: only the longest match is active.
    below = [each for each in others if each["link"] in request.path]
    for each in sorted(below, key=lambda item: len(item["link"]))[:-1]:
        each["active"] = is_active(False)
    return [*groups, {"title": gettext("Desk"), "items": others}] if others else groups


def queue_items(request: HttpRequest, *, elsewhere: bool = False) -> list[dict[str, Any]]:
    """Build the queues; only the shown one is active: by their paths, Unfold would light up all."""
    address = reverse(LIST)
    there = request.path == address
    searching = bool(request.GET.get("q", "").strip())
    current = queues.current_queue(request, searching=searching) if there else None
    facts = queues.queue_counts(request)
    return [
        {
            "title": queue.title,
            "icon": queue.icon,
            "link": f"{address}?queue={queue.slug}",
            "active": is_active(queue == current and not elsewhere),
            "badge": facts.badge(queue),
            "badge_variant": "danger" if queue.slug == "overdue" else "primary",
        }
        for queue in queues.queues_for(staff(request))
        if queue.slug != "snoozed" or queue == current or facts.badge(queue)
    ]


def view_items(request: HttpRequest) -> list[dict[str, Any]]:
    """Build the saved views; one is active if the list shows exactly its query."""
    address = reverse(LIST)
    query = views.clean_query(request.GET.urlencode()) if request.path == address else None
    return [
        {
            "title": view.name,
            "icon": "group" if view.shared else "bookmark",
            "link": f"{address}?{view.query}",
            "active": is_active(view.query == query),
            "badge": queues.short_count(view.size or 0),
            "badge_variant": "primary",
        }
        for view in views.items_for(request)
    ]


def is_active(here: bool) -> Any:
    """Wrap a flag for Unfold, which would compare paths again for a bare False."""
    return lambda request: here
