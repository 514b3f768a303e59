"""Consequences of the statuses "Sample held" and "Sample asked" (rows.py).

The first waits for others, the second for the company. Run by test_further.py, which says how to
run one by itself.
"""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection, migrations
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from core.models import Mail
from desk.reports import figure_tables
from desk.reports.counting import Scope
from desk.reports.figures import count_figures_of, days_up_to_today
from tests import builders as build
from tests import test_api_docs
from tests.browser.chromium import Tab
from tests.browser.conftest import chromium, tab  # noqa: F401 - fixtures
from tests.desk import test_keys, test_manual
from tests.test_further_event_type import lists
from tickets import jobs
from tickets.automations.due import due
from tickets.changes.page_tokens import page_token_of
from tickets.models import Agent, Automation, Comment, HistoryEntry, Notification, Ticket
from tickets.sla import clocks
from tickets.sla.clocks import ClockState
from tickets.statuses import (
    AGENT_MOVES,
    FOLLOWED_UP,
    MOVES,
    AgentMove,
    By,
    Colour,
    Row,
    Status,
    Turn,
    joined,
)

LIST = "/admin/tickets/ticket/"
PAUSED, WAITING = 9001, 9002
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
VERBS = [move.verb for move in AGENT_MOVES.values()]


@pytest.fixture(autouse=True)
def nothing_kept(db: None) -> None:
    cache.clear()


@pytest.fixture
def desk(agent: Agent) -> Client:
    client = Client()
    client.force_login(agent.user)
    return client


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    """Create a ticket of Ada's that waits for others."""
    return build.ticket(company, agent=agent, status=PAUSED, shipment_id=4101)


@pytest.fixture
def incomplete(company: Company, agent: Agent) -> Ticket:
    """Create a ticket of Ada's that waits for its company."""
    return build.ticket(company, agent=agent, status=WAITING, shipment_id=4102)


@pytest.fixture
def fresh(company: Company, agent: Agent) -> Ticket:
    return build.ticket(company, agent=agent, status=1, due_at=timezone.now() + HOUR)


def listed(desk: Client, **query: Any) -> list[int]:
    return [one.pk for one in desk.get(LIST, query).context["cl"].result_list]


def page(desk: Client, ticket: Ticket) -> str:
    return desk.get(f"{LIST}{ticket.pk}/change/").content.decode()


# The clock and the agents' loads.


def test_the_clock_says_paused(ticket: Ticket) -> None:
    ticket.resolution_due_at = ticket.due_at = timezone.now() - HOUR

    states = {clock(ticket, timezone.now()) for clock in (clocks.resolution, clocks.next_promise)}

    assert states == {ClockState.PAUSED}


def test_the_clock_stops_with_the_move_and_goes_on_after_it(agent: Agent, company: Company) -> None:
    ticket = build.ticket(company, agent=agent, status=6)

    call_command("move_ticket", ticket.pk, PAUSED, agent="ada", reason="x", stdout=StringIO())
    ticket.refresh_from_db()
    assert (ticket.due_at, ticket.decided_at) == (None, None)

    call_command("move_ticket", ticket.pk, 6, agent="ada", stdout=StringIO())
    ticket.refresh_from_db()
    assert ticket.due_at is not None


@pytest.mark.parametrize("status", [PAUSED, WAITING])
def test_paused_ticket_is_no_load(company: Company, agent: Agent, status: int) -> None:
    build.ticket(company, agent=agent, status=status)

    assert Agent.objects.with_loads().get().load == 0


# Turns: no ticket is left without anybody in charge.


def switch_off(agent: Agent) -> None:
    User.objects.filter(pk=agent.user_id).update(is_active=False)


def test_others_are_looked_after_whether_or_not_the_agent_stays(ticket: Ticket) -> None:
    bob = build.agent("bob")
    assert ticket.agent is not None
    switch_off(ticket.agent)

    assert jobs.assign_waiting() == 1

    ticket.refresh_from_db()
    assert (ticket.agent, ticket.status) == (bob, PAUSED)
    Ticket.objects.update(agent=None)
    assert jobs.assign_waiting() == 1


def test_silence_brings_back_what_waits_for_others(ticket: Ticket) -> None:
    assert jobs.notify_of_late_tickets() == 0
    Ticket.objects.update(updated_at=timezone.now() - 2 * DAY)
    assert jobs.notify_of_late_tickets() == 0
    Ticket.objects.update(updated_at=timezone.now() - 3 * DAY)

    assert [jobs.notify_of_late_tickets() for _ in range(2)] == [1, 0]

    ticket.refresh_from_db()
    assert (ticket.status, ticket.due_at is not None) == (Status.IN_REVIEW, True)
    entry = HistoryEntry.objects.get()
    assert (entry.by, entry.was, entry.now) == (By.SYSTEM, PAUSED, Status.IN_REVIEW)
    assert Notification.objects.get().kind == Notification.Kind.WOKEN


def test_a_reply_brings_back_what_lets_it(api: APIClient, ticket: Ticket) -> None:
    answer = api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": "Where is my parcel?"})

    assert (answer.status_code, answer["X-Ticket-Changed"]) == (200, "1")
    ticket.refresh_from_db()
    assert ticket.status == Status.FOLLOW_UP


@pytest.mark.parametrize("has_agent", [True, False])
def test_what_waits_for_the_company_is_assigned_once_it_replies(
    api: APIClient, incomplete: Ticket, has_agent: bool
) -> None:
    bob = build.agent("bob")
    assert incomplete.agent is not None
    switch_off(incomplete.agent)
    if not has_agent:
        Ticket.objects.update(agent=None)
    Ticket.objects.update(updated_at=timezone.now() - 300 * DAY)
    assert (jobs.assign_waiting(), jobs.notify_of_late_tickets()) == (0, 0)

    api.post(f"/company/tickets/{incomplete.pk}/comments", {"comment": "Here is the invoice."})

    assert jobs.assign_waiting() == 1
    incomplete.refresh_from_db()
    assert (incomplete.status, incomplete.agent) == (WAITING, bob)


def test_the_company_gets_an_email_about_what_waits_for_it_and_reminders(fresh: Ticket) -> None:
    Company.objects.update(contact_email="ops@acme.example")

    call_command(
        "move_ticket", fresh.pk, WAITING, agent="ada", reason="Which one?", stdout=StringIO()
    )

    subject = f"Ticket {fresh.pk} needs something from you"
    assert list(Mail.objects.values_list("address", "subject")) == [("ops@acme.example", subject)]
    long_ago = timezone.now() - 300 * DAY
    Ticket.objects.update(updated_at=long_ago)
    Comment.objects.update(created_at=long_ago)
    for kind in (Automation.Kind.REMIND, Automation.Kind.CLOSE):
        assert list(due(Automation(kind=kind, type=fresh.type), timezone.now())) == [fresh]


@pytest.mark.parametrize("turn", [Turn.COMPANY, Turn.OTHERS])
def test_a_row_that_could_let_a_ticket_lie_is_refused(turn: Turn) -> None:
    with pytest.raises(ValueError, match=r"follow_up_by_request=True|returns_after"):
        Row(turn=turn, label="Sample", colour=Colour.GREY)


@pytest.mark.parametrize("property_", ["notifies_company", "needs_reason"])
def test_a_move_that_leaves_the_company_in_the_dark_is_refused(property_: str) -> None:
    """Each property alone is not enough."""
    move = AgentMove(verb="Ask", action="Ask for", key="x", **{property_: True})

    with pytest.raises(ValueError, match="notifies_company=True and needs_reason=True"):
        Row(
            turn=Turn.COMPANY,
            label="Sample",
            colour=Colour.GREY,
            follow_up_by_request=True,
            move=move,
        )


# Queues, the agent's day and the figures.


@pytest.mark.parametrize("queue", ["mine", "open", "everything"])
def test_the_queues_show_it(desk: Client, ticket: Ticket, queue: str) -> None:
    assert listed(desk, queue=queue) == [ticket.pk]


def test_waiting_on_company_has_what_waits_for_the_company_alone(
    desk: Client, ticket: Ticket, incomplete: Ticket
) -> None:
    assert listed(desk, queue="waiting") == [incomplete.pk]


def test_the_row_of_a_queue_says_paused_in_its_colour(desk: Client, ticket: Ticket) -> None:
    html = desk.get(LIST, {"queue": "mine"}).content.decode()

    assert '<span class="desk-pill desk-tint-amber">Sample held</span>' in html
    assert re.search(r'<td class="field-due"[^>]*>paused</td>', html)


def test_the_filter_offers_it(desk: Client, ticket: Ticket) -> None:
    build.ticket(ticket.company)

    html = desk.get(LIST, {"queue": "everything", "status": PAUSED}).content.decode()

    assert re.search(r'<input [^>]*value="9001"[^>]*checked', html)
    assert "Sample held" in html
    assert listed(desk, queue="everything", status=PAUSED) == [ticket.pk]


def test_the_badges_count_each_where_it_waits(
    desk: Client, ticket: Ticket, incomplete: Ticket
) -> None:
    groups = desk.get(LIST).context["sidebar_navigation"]

    badges = {item["title"]: item["badge"] for item in groups[0]["items"]}
    assert (badges["Waiting on company"], badges["Mine"], badges["Unassigned"]) == ("1", "2", None)


def test_the_own_day_counts_what_waits_for_the_company(
    desk: Client, ticket: Ticket, incomplete: Ticket
) -> None:
    day = desk.get("/admin/").context["day"]

    assert (day["open"], day["waiting"]) == (2, 1)


def test_the_figures_count_it_as_open(ticket: Ticket) -> None:
    tiles = dict(figure_tables.tiles(count_figures_of(Scope(days_up_to_today(7)))))

    assert (tiles["Open now"], tiles["Decided"]) == ("1", "0")


def test_the_export_names_it(ticket: Ticket) -> None:
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)

    text = client.get(f"{LIST}export/", {"queue": "open"}).getvalue().decode()

    assert ",Sample held," in text


# The move.


def test_the_page_offers_the_move_with_its_key_and_colour(desk: Client, fresh: Ticket) -> None:
    html = page(desk, fresh)

    (button,) = re.findall(r'<a [^>]*id="open-sample-held"[^>]*>[^<]*</a>', html)
    assert button.endswith(">Hold sample</a>")
    assert 'data-key="y"' in button
    assert "desk-tint-amber" in button
    assert re.search(r"<dt><kbd>y</kbd></dt><dd>hold sample</dd>", html)
    assert 'id="move-sample-held"' in html
    assert re.search(r'<option value="9001">\s*move to Sample held', html)


def test_the_offered_moves_come_in_the_order_of_the_rows(desk: Client, fresh: Ticket) -> None:
    verbs = re.findall(r'id="open-[a-z-]+"[^>]*>([^<]*)</a>', page(desk, fresh))

    assert (verbs, "Hold sample" in verbs) == (VERBS, True)


def test_a_ticket_sample_held_has_its_badge_and_goes_anywhere(desk: Client, ticket: Ticket) -> None:
    html = page(desk, ticket)

    assert '<span class="desk-pill desk-tint-amber">Sample held</span>' in html
    verbs = re.findall(r'id="open-[a-z-]+"[^>]*>([^<]*)</a>', html)
    assert verbs == [verb for verb in VERBS if verb != "Hold sample"]


def test_the_move_works_and_its_reason_stays_among_agents(desk: Client, fresh: Ticket) -> None:
    form = {"ticket": fresh.pk, "seen": str(page_token_of(fresh)), "reason": ""}
    assert "Shown to agents only." in desk.get(f"{LIST}move/9001/", form).content.decode()
    assert desk.post(f"{LIST}move/9001/", form).status_code == 409

    assert (
        desk.post(f"{LIST}move/9001/", {**form, "reason": "The carrier asks."}).status_code == 302
    )

    fresh.refresh_from_db()
    assert fresh.status == PAUSED
    assert HistoryEntry.objects.get().reason == "The carrier asks."
    assert not Comment.objects.exists()


def test_the_list_moves_many(desk: Client, fresh: Ticket) -> None:
    form = {"action": "move_to_sample_held", "_selected_action": [fresh.pk]}

    html = desk.post(f"{LIST}?queue=mine", form).content.decode()

    assert "Hold selected samples" in desk.get(LIST).content.decode()
    assert f'name="ticket" value="{fresh.pk}"' in html


def test_a_reply_can_come_with_the_move(desk: Client, fresh: Ticket) -> None:
    form = {
        "text": "We ask the carrier.",
        "to": PAUSED,
        "reply": "1",
        "seen": str(page_token_of(fresh)),
    }

    assert desk.post(f"{LIST}{fresh.pk}/write/", form).status_code == 302

    fresh.refresh_from_db()
    assert (fresh.status, Comment.objects.get().public) == (PAUSED, True)


def test_a_macro_can_move_there(company: Company) -> None:
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)

    html = client.get("/admin/desk/macro/add/").content.decode()

    assert re.search(r'<option value="9001"[^>]*>Sample held</option>', html)


def test_the_key_opens_the_dialog(
    tab: Tab,  # noqa: F811 - the fixture
    desk: Client,
    transactional_db: None,
    fresh: Ticket,
) -> None:
    tab.sign_in(desk)
    assert tab.visit(f"{LIST}{fresh.pk}/change/") == 200

    tab.press("y")

    tab.sees("#move-sample-held[open]")


def test_the_command_tells_of_it_and_moves_there(fresh: Ticket) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="9001 Sample held"):
        call_command("move_ticket", fresh.pk, 8, agent="ada")

    call_command("move_ticket", fresh.pk, PAUSED, agent="ada", reason="x", stdout=out)

    assert out.getvalue() == "9001 Sample held\n"


# The company and the API.


def test_the_company_sees_it_and_counts_it_as_active(api: APIClient, ticket: Ticket) -> None:
    answer = api.get("/company/tickets?status_group=active").json()

    (row,) = answer["data"]
    assert (row["ticket_status_id"], row["ticket_status_name"]) == (PAUSED, "sample_held")
    assert answer["counts"] == {"active": 1, "resolved": 0}
    assert api.get("/company/tickets?status=9001").json()["total_rows"] == 1


def test_the_company_follows_it_up_and_cannot_ask_for_it(api: APIClient, ticket: Ticket) -> None:
    address = f"/company/tickets/{ticket.pk}"
    refused = api.put(address, {"ticket_status_id": PAUSED})
    assert refused.status_code == 400
    asked_for = joined(sorted(MOVES[By.COMPANY]), "or")
    assert f"Send {asked_for}." in refused.content.decode()

    assert api.put(address, {"ticket_status_id": 5})["X-Ticket-Changed"] == "1"

    ticket.refresh_from_db()
    assert ticket.status == 5


def test_it_does_not_block_another_ticket(api: APIClient, ticket: Ticket) -> None:
    body = {"type_id": ticket.type_id, "shipment_id": ticket.shipment_id}

    assert api.post("/company/tickets", body).status_code == 200


def test_openapi_lists_it(client: Client) -> None:
    description = client.get("/schema", HTTP_ACCEPT="application/json").json()

    # Choices of requests are enums; those of responses are open.
    enums, examples = list(lists(description, "enum")), list(lists(description, "examples"))
    choices = enums + examples
    assert [one for one in choices if 10 in one and 4 in one and PAUSED not in one] == []
    assert [one for one in choices if "in_review" in one and "sample_held" not in one] == []
    assert any(PAUSED in one for one in enums)
    assert any(PAUSED in one for one in examples)
    assert any("sample_held" in one for one in examples)
    assert f"5 follows {joined(sorted(FOLLOWED_UP), 'and')} only." in str(description)


# The database and the documents.


def test_a_migration_alters_choices_and_nothing_else() -> None:
    loader = MigrationLoader(connection)
    before, after = loader.project_state(), ProjectState.from_apps(apps)
    changes = MigrationAutodetector(before, after).changes(loader.graph)

    operations = [one for app in changes.values() for each in app for one in each.operations]
    altered = set()
    for one in operations:
        assert isinstance(one, migrations.AlterField), one
        altered.add(f"{one.model_name}.{one.name}")
        old = before.models[app_of(changes, one), one.model_name].fields[one.name]
        assert without_choices(one.field) == without_choices(old)
        assert (PAUSED, "Sample held") in one.field.choices
    assert "ticket.status" in altered


def app_of(changes: dict[str, Any], wanted: Any) -> str:
    return next(app for app, all_ in changes.items() for one in all_ if wanted in one.operations)


def without_choices(field: Any) -> Any:
    _, path, arguments, options = field.deconstruct()
    return path, arguments, {name: value for name, value in options.items() if name != "choices"}


@pytest.mark.parametrize(
    "check",
    [
        test_api_docs.test_tells_every_status_and_what_may_be_asked_for,
        test_manual.test_manual_lists_every_move,
        test_keys.test_manual_lists_the_keys_of_the_moves,
    ],
)
def test_documents_that_do_not_tell_of_it_are_noticed(check: Any) -> None:
    assert PAUSED in set(Status)
    with pytest.raises(AssertionError):
        check()
