"""Access of every role to every page and action of the admin; a new one has to be added here.

Trap: actions without permissions run for any member of staff, and on a plain GET.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from axes.models import AccessAttempt, AccessLog
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from companies.models import Company
from core.models import FailedRow
from deliveries import publishing
from deliveries.models import Delivery, Replay, State
from desk import urls
from desk.models import Macro, Storm
from tests import builders as build
from tickets import roles
from tickets.models import (
    ApprovalLimit,
    Calendar,
    FilingRule,
    RequiredDocument,
    SLATarget,
    Ticket,
    TicketFile,
    TicketType,
)

ROLES = ("agent", "lead", "auditor", "operator", "nobody")
OURS = (
    "core",
    "companies",
    "webhooks",
    "deliveries",
    "shipments",
    "tickets",
    "portal",
    "desk",
    "auth",
)
# Rows that merely viewing a page writes, to record the visit.
LOOKING = {"desk.Visit", "desk.SeenSession"}

LOOK = {
    "agent": "companies.Company deliveries.Delivery desk.Macro desk.Storm shipments.Incidence"
    " shipments.Shipment tickets.Ticket tickets.TicketType webhooks.Webhook",
    "lead": "companies.Company core.FailedRow deliveries.Delivery desk.Macro desk.Storm"
    " shipments.Incidence shipments.Shipment tickets.Agent tickets.ApprovalLimit tickets.Calendar"
    " tickets.FilingRule tickets.ReasonCode tickets.RequiredDocument tickets.SLATarget"
    " tickets.Ticket tickets.TicketType webhooks.Webhook",
    "auditor": "auth.Group auth.User companies.Company core.FailedRow deliveries.Delivery"
    " deliveries.Replay desk.Macro desk.Storm shipments.Incidence shipments.Shipment tickets.Agent"
    " tickets.ApprovalLimit tickets.Calendar tickets.FilingRule tickets.ReasonCode"
    " tickets.RequiredDocument tickets.SLATarget tickets.Ticket tickets.TicketType"
    " webhooks.Webhook",
    "operator": "auth.Group auth.User axes.AccessAttempt axes.AccessLog companies.Company"
    " core.FailedRow deliveries.Delivery deliveries.Replay shipments.Incidence"
    " shipments.Shipment tickets.TicketType webhooks.Webhook",
    "nobody": "",
}
ADD = {
    "agent": "",
    "lead": "desk.Macro tickets.ApprovalLimit tickets.Calendar tickets.FilingRule"
    " tickets.ReasonCode tickets.RequiredDocument tickets.SLATarget",
    "auditor": "",
    "operator": "auth.User companies.Company tickets.TicketType",
    "nobody": "",
}
DELETE = {
    "agent": "",
    "lead": "desk.Macro tickets.ApprovalLimit tickets.Calendar tickets.FilingRule"
    " tickets.RequiredDocument tickets.SLATarget",
    "auditor": "",
    "operator": "",
    "nobody": "",
}
# Roles that each page admits, apart from lists, forms and histories.
PAGES = {
    "index": "agent lead auditor operator nobody",
    "search": "agent lead auditor operator nobody",
    "logout": "agent lead auditor operator nobody",
    "login": "agent lead auditor operator nobody",
    "jsi18n": "agent lead auditor operator nobody",
    "password_change": "agent lead auditor operator nobody",
    "password_change_done": "agent lead auditor operator nobody",
    "tickets_ticket_views": "agent lead",
    "desk_storm_reply": "lead",
    "desk_storm_decide": "lead",
    "tickets_ticket_names": "agent lead auditor",
    "tickets_ticket_export": "lead auditor",
    "tickets_ticket_give": "lead",
    "tickets_ticket_events": "agent lead auditor operator",
    "tickets_ticket_evidence": "agent lead auditor",
    "tickets_ticket_shipment_evidence": "agent lead auditor operator",
    "tickets_ticket_file": "agent lead auditor",
    "tickets_ticket_thumbnail": "agent lead auditor",
    "tickets_ticket_page": "agent lead auditor",
    "tickets_ticket_take": "agent lead",
    "tickets_ticket_write": "agent lead",
    "tickets_ticket_presence": "agent lead",
    "tickets_ticket_claim": "agent lead",
    "tickets_ticket_move": "agent lead",
    "tickets_ticket_pending": "agent lead auditor",
    "tickets_ticket_pending_act": "agent lead",
    "tickets_ticket_end_links": "agent lead",
    "tickets_ticket_appeal": "lead",
    "tickets_ticket_hand_over": "agent lead",
    "tickets_ticket_colleagues": "agent lead",
    "tickets_ticket_new": "agent lead",
    "tickets_ticket_watch": "agent lead",
    "tickets_ticket_snooze": "agent lead",
    "tickets_ticket_relate": "agent lead",
    "tickets_ticket_amounts": "agent lead",
    "tickets_ticket_claim_file": "agent lead",
    "webhooks_webhook_sick": "agent lead auditor operator",
    "webhooks_webhook_pause": "lead operator",
    "webhooks_webhook_resume": "lead operator",
    "webhooks_webhook_sending": "auditor operator",
    "webhooks_webhook_sending_hold": "operator",
    "webhooks_webhook_sending_release": "operator",
    "webhooks_webhook_sending_drain": "operator",
    "webhooks_webhook_sending_resume": "operator",
    "deliveries_delivery_again": "agent lead operator",
    "deliveries_delivery_proof": "agent lead auditor operator",
    "deliveries_replay_new": "operator",
    "deliveries_replay_stop": "operator",
    "tickets_agent_hand_over": "lead",
    "tickets_agent_available": "agent lead",
}
# Django's own pages, which check the permission for what they are about to show.
OPEN_TO_STRANGERS = {
    "admin_password_reset",
    "desk_invitation",
    "desk_live",
    "desk_password_reset",
    "desk_sign_on",
    "desk_sign_on_back",
    "desk_sign_on_out",
}
DJANGO_S = {"autocomplete", "view_on_site", "app_list", "auth_user_password_change", None}
MOVES = "move_to_accepted move_to_declined move_to_in_review move_to_incomplete"
ACTIONS = {
    "agent": [f"tickets.Ticket: {MOVES}", "deliveries.Delivery: send_again"],
    "lead": [
        f"tickets.Ticket: give {MOVES}",
        "deliveries.Delivery: send_again",
        "webhooks.Webhook: pause resume",
    ],
    "auditor": [],
    "operator": [
        "auth.User: remove_second_factor",
        "deliveries.Delivery: send_again",
        "webhooks.Webhook: pause resume",
    ],
    "nobody": [],
}
STANDARD = ("changelist", "add", "history", "delete", "change")


class Page(NamedTuple):
    name: str
    model: str
    kind: str
    address: str


def pages_of_admin() -> list[Any]:
    """Return the URL patterns of the namespace admin, Django's own and ours."""
    return get_resolver().namespace_dict["admin"][1].url_patterns


def patterns(of: list[Any], before: Iterable[str] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each address with its keywords."""
    for each in of:
        keywords = (*before, *each.pattern.converters)
        if isinstance(each, URLResolver):
            yield from patterns(each.url_patterns, keywords)
        elif isinstance(each, URLPattern):
            yield each.name, keywords


@pytest.fixture(autouse=True)
def rows(company: Company) -> None:
    """Create one row of every model that has pages."""
    build.webhook(company)
    publishing.publish([build.news(company)])
    shipment = build.shipment(company)
    build.incidence(shipment)
    ticket = build.ticket(company, shipment_id=shipment.pk, carrier_name="swift")
    build.file(company, ticket=ticket)
    build.agent("bob")
    AccessAttempt.objects.create(username="mallory", failures_since_start=1)
    AccessLog.objects.create(username="mallory")
    Macro.objects.create(name="hello", text="Hello")
    Storm.objects.create(carrier_name="swift", hour=timezone.now(), found=9, usual=1)
    calendar, _ = Calendar.objects.get_or_create(name="walked")
    SLATarget.objects.get_or_create(
        plan="walked",
        calendar=calendar,
        defaults={"first_response_minutes": 60, "resolution_minutes": 600},
    )
    FailedRow.objects.create(job="sweep", kind="webhook", key="1", error="x")
    ApprovalLimit.objects.get_or_create(currency="EUR", amount=1)
    RequiredDocument.objects.get_or_create(name="Invoice")
    Replay.objects.create(by="olga", until=timezone.now(), state=State.GIVEN_UP, rate=1, total=9)
    FilingRule.objects.get_or_create(carrier_name="walked", type_id=4, days=30)


@pytest.fixture(params=ROLES)
def role(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def person(role: str) -> User:
    if role in ("agent", "lead"):
        return build.agent(f"a-{role}", group=role).user
    user = User.objects.create_user(role, is_staff=True)
    if role in roles.NON_AGENT_ROLES:
        user.groups.add(roles.group(role))
    return user


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def value(keyword: str, name: str) -> Any:
    """Return a value for a keyword of an address."""
    owner = name.rsplit("_", 1)[0]
    values = {
        "ticket_id": Ticket,
        "file_id": TicketFile,
        "storm_id": Storm,
        "delivery_id": Delivery,
        "run_id": Replay,
        "agent_id": apps.get_model("tickets.Agent"),
        "shipment_id": apps.get_model("shipments.Shipment"),
    }
    if keyword in values:
        return values[keyword].objects.first().pk
    if keyword == "object_id":
        row = apps.get_model(*owner.split("_", 1))._default_manager.first()
        return row.pk if row else 1
    to = "dismissed" if "storm" in name else 2
    return {"number": 1, "to": to, "batch": UUID(int=1), "act": "undo"}[keyword]


def walked() -> list[Page]:
    pages = []
    for name, keywords in patterns(pages_of_admin()):
        if name in DJANGO_S:
            continue
        address = reverse(f"admin:{name}", kwargs={one: value(one, name) for one in keywords})
        owner, _, kind = name.rpartition("_")
        if kind in STANDARD and name not in PAGES:
            model = apps.get_model(*owner.split("_", 1))._meta.label
            pages.append(Page(name, model, kind, address))
        else:
            pages.append(Page(name, "", name, address))
    return pages


def may(role: str, page: Page) -> bool:
    if page.kind in STANDARD:
        table = {"add": ADD, "delete": DELETE}.get(page.kind, LOOK)
        return page.model in table[role].split()
    return role in PAGES[page.name].split()


def everything() -> dict[str, list[Any]]:
    """Return all rows of our apps."""
    return {
        model._meta.label: list(model._default_manager.order_by("pk").values_list())
        for app in OURS
        for model in apps.get_app_config(app).get_models()
        if model._meta.label not in LOOKING and model is not User
    }


def reached(answer: HttpResponse) -> bool:
    """Return True for more than a refusal: a page, a file, or an error about the address."""
    return answer.status_code in (200, 302, 400, 404)


def test_every_page_is_in_the_table() -> None:
    names = {name for name, _ in patterns(pages_of_admin())} - DJANGO_S
    standard = {name for name in names if name.rpartition("_")[2] in STANDARD}

    assert names - standard - set(PAGES) == set()
    assert set(PAGES) - names == set()


def test_each_role_sees_its_pages_and_no_others_and_changes_nothing_by_looking(
    role: str, browser: Client
) -> None:
    """Trap: a link in a mail that accepts a claim when it is followed."""
    before, wrong = everything(), {}
    for page in walked():
        answer = browser.get(page.address) if page.name != "logout" else None
        # Addresses for POST only answer 405, whoever requests them.
        if answer and answer.status_code != 405 and reached(answer) != may(role, page):
            wrong[page.address] = answer.status_code

    assert wrong == {}
    assert everything() == before


def test_no_permission_to_view_means_none_to_post(role: str, browser: Client) -> None:
    pages = [page for page in walked() if not may(role, page)]
    before = everything()
    wrong = {
        page.address: answer.status_code
        for page in pages
        if (answer := browser.post(page.address, {"post": "yes"})).status_code != 403
    }

    assert wrong == {}
    assert everything() == before


def test_each_role_has_its_actions(role: str, person: User) -> None:
    request = RequestFactory().get("/")
    request.user = person
    actions = {
        model._meta.label: sorted(desk.get_actions(request))
        for model, desk in admin.site._registry.items()
        if desk.has_view_permission(request)
    }
    # Django's own action, for those who may delete.
    lines = [
        f"{label}: {' '.join(one for one in names if one != 'delete_selected')}"
        for label, names in sorted(actions.items())
        if set(names) - {"delete_selected"}
    ]

    assert lines == sorted(ACTIONS[role])


def test_nobody_who_has_an_action_withheld_can_send_it(role: str, browser: Client) -> None:
    """Trap: an action without permissions runs for staff who have none at all."""
    ticket = Ticket.objects.get()
    before = everything()
    for action in ("give", "move_to_accepted", "delete_selected"):
        if f"{action} " in f"{' '.join(ACTIONS[role])} ":
            continue
        body = {"action": action, "_selected_action": [ticket.pk], "post": "yes"}
        html = browser.post("/admin/tickets/ticket/", body).content.decode()
        assert 'name="ticket"' not in html

    assert everything() == before


def test_an_action_in_the_address_does_nothing() -> None:
    """Trap: actions that run on GET."""
    ticket = Ticket.objects.get()
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    before = everything()
    for desk in admin.site._registry.values():
        address = reverse(f"admin:{desk.opts.app_label}_{desk.opts.model_name}_changelist")
        for action in [name for _, name, _ in map(desk.get_action, desk.actions or ())]:
            client.get(address, {"action": action, "_selected_action": ticket.pk})

    assert everything() == before


def test_unfold_s_own_actions_all_ask_for_a_permission() -> None:
    """Trap: Unfold's actions ask for none unless told to, and run on GET without a dialog."""
    kinds = ("actions_list", "actions_row", "actions_detail", "actions_submit_line")
    bare = [
        f"{desk}.{name}"
        for desk in admin.site._registry.values()
        for kind in kinds
        for name in getattr(desk, kind, None) or ()
        if not getattr(getattr(desk, str(name), None), "allowed_permissions", None)
    ]

    assert bare == []


def test_strangers_are_asked_to_sign_in(client: Client) -> None:
    for page in walked():
        if page.name in ("login", "logout", "jsi18n"):
            continue
        answer = client.get(page.address)
        assert answer.status_code == 302, page.address
        assert answer["Location"].startswith("/admin/login/"), page.address


def test_strangers_are_asked_to_sign_in_on_the_desk_s_own_pages(client: Client) -> None:
    """Trap: a new page without the decorator that guards it."""
    names = dict(patterns(urls.urlpatterns))
    assert names.keys() >= OPEN_TO_STRANGERS
    for name in names.keys() - OPEN_TO_STRANGERS:
        arguments = {"slug": "x", "kind": "close"}
        answer = client.get(
            reverse(name, kwargs={one: arguments.get(one, 1) for one in names[name]})
        )
        assert answer.status_code == 302, name
        assert answer["Location"].startswith("/admin/login/"), name


def test_who_may_change_may_view(db: None) -> None:
    """Follow the admin's own rule, for groups that an operator creates."""
    person = User.objects.create_user("change", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="change_ticket"))
    client = Client()
    client.force_login(person)

    assert client.get(reverse("desk_notifications")).status_code == 200


def test_a_form_of_a_stale_page_reopens_nothing(company: Company) -> None:
    """Trap: the admin's own form saves what it showed, and with it an accepted ticket's status."""
    ticket = build.ticket(company, status=2)
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    before = everything()

    address = reverse("admin:tickets_ticket_change", args=[ticket.pk])
    client.post(address, {"status": 6, "version": 1, "comments": "x", "_save": "Save"})

    assert everything() == before
    assert TicketType.objects.exists()
