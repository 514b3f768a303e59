"""What follows from the row "On hold" (row.py). Run by test_on_hold.py, never by itself."""

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
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
from desk.reports import figure_tables
from desk.reports.counting import Narrowed
from desk.reports.figures import count_figures_of, days_up_to_today
from tests import builders as build
from tests import test_api_docs
from tests.browser.chromium import Tab
from tests.browser.conftest import chromium, tab  # noqa: F401 - fixtures
from tests.desk import test_keys, test_manual
from tests.test_further_event_type import lists
from tickets.changes.seen import seen_of
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.sla import clocks
from tickets.sla.clocks import ClockState
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
ON_HOLD = 7
HOUR = timedelta(hours=1)


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
    """One of Ada's that waits for somebody else."""
    return build.ticket(company, agent=agent, status=ON_HOLD, shipment_id=4101)


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

    call_command("move_ticket", ticket.pk, ON_HOLD, agent="ada", reason="x", stdout=StringIO())
    ticket.refresh_from_db()
    assert (ticket.due_at, ticket.decided_at) == (None, None)

    call_command("move_ticket", ticket.pk, 6, agent="ada", stdout=StringIO())
    ticket.refresh_from_db()
    assert ticket.due_at is not None


def test_it_is_no_load_and_nobody_is_looked_for(ticket: Ticket) -> None:
    assert Agent.objects.with_loads().get().load == 0
    Ticket.objects.update(agent=None)
    assert not Ticket.objects.waiting().exists()


# Queues, the day, the figures.


@pytest.mark.parametrize("queue", ["mine", "waiting", "open", "everything"])
def test_the_queues_show_it(desk: Client, ticket: Ticket, queue: str) -> None:
    assert listed(desk, queue=queue) == [ticket.pk]


def test_the_row_of_a_queue_says_paused_in_its_colour(desk: Client, ticket: Ticket) -> None:
    html = desk.get(LIST, {"queue": "waiting"}).content.decode()

    assert '<span class="desk-pill desk-tint-amber">On hold</span>' in html
    assert re.search(r'<td class="field-due"[^>]*>paused</td>', html)


def test_the_filter_offers_it(desk: Client, ticket: Ticket) -> None:
    build.ticket(ticket.company)

    html = desk.get(LIST, {"queue": "everything", "status": ON_HOLD}).content.decode()

    assert re.search(r'<input [^>]*value="7"[^>]*checked', html)
    assert "On hold" in html
    assert listed(desk, queue="everything", status=ON_HOLD) == [ticket.pk]


def test_the_badge_of_the_queue_counts_it(desk: Client, ticket: Ticket) -> None:
    groups = desk.get(LIST).context["sidebar_navigation"]

    badges = {item["title"]: item["badge"] for item in groups[0]["items"]}
    assert (badges["Waiting on company"], badges["Mine"], badges["Unassigned"]) == ("1", "1", None)


def test_the_own_day_counts_it_as_waiting(desk: Client, ticket: Ticket) -> None:
    day = desk.get("/admin/").context["day"]

    assert (day["open"], day["waiting"]) == (1, 1)


def test_the_figures_count_it_as_open(ticket: Ticket) -> None:
    tiles = dict(figure_tables.tiles(count_figures_of(Narrowed(days_up_to_today(7)))))

    assert (tiles["Open now"], tiles["Decided"]) == ("1", "0")


def test_the_export_names_it(ticket: Ticket) -> None:
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)

    text = client.get(f"{LIST}export/", {"queue": "waiting"}).getvalue().decode()

    assert ",On hold," in text


# The move.


def test_the_page_offers_the_move_with_its_key_and_colour(desk: Client, fresh: Ticket) -> None:
    html = page(desk, fresh)

    (button,) = re.findall(r'<a [^>]*id="open-on-hold"[^>]*>[^<]*</a>', html)
    assert button.endswith(">Put on hold</a>")
    assert 'data-key="h"' in button
    assert "desk-tint-amber" in button
    assert re.search(r"<dt><kbd>h</kbd></dt><dd>put on hold</dd>", html)
    assert 'id="move-on-hold"' in html
    assert re.search(r'<option value="7">\s*move to On hold', html)


def test_the_offered_moves_come_in_the_order_of_the_rows(desk: Client, fresh: Ticket) -> None:
    verbs = re.findall(r'id="open-[a-z-]+"[^>]*>([^<]*)</a>', page(desk, fresh))

    assert verbs == ["Accept", "Decline", "Request information", "Review", "Put on hold"]


def test_a_ticket_on_hold_has_its_badge_and_goes_anywhere(desk: Client, ticket: Ticket) -> None:
    html = page(desk, ticket)

    assert '<span class="desk-pill desk-tint-amber">On hold</span>' in html
    verbs = re.findall(r'id="open-[a-z-]+"[^>]*>([^<]*)</a>', html)
    assert verbs == ["Accept", "Decline", "Request information", "Review"]


def test_the_move_works_and_its_reason_stays_among_agents(desk: Client, fresh: Ticket) -> None:
    sent = {"ticket": fresh.pk, "seen": str(seen_of(fresh)), "reason": ""}
    assert "Shown to agents only." in desk.get(f"{LIST}move/7/", sent).content.decode()
    assert desk.post(f"{LIST}move/7/", sent).status_code == 409

    assert desk.post(f"{LIST}move/7/", {**sent, "reason": "The carrier asks."}).status_code == 302

    fresh.refresh_from_db()
    assert fresh.status == ON_HOLD
    assert HistoryEntry.objects.get().reason == "The carrier asks."
    assert not Comment.objects.exists()


def test_the_list_moves_many(desk: Client, fresh: Ticket) -> None:
    found = {"action": "move_to_on_hold", "_selected_action": [fresh.pk]}

    html = desk.post(f"{LIST}?queue=mine", found).content.decode()

    assert "Put on hold selected tickets" in desk.get(LIST).content.decode()
    assert f'name="ticket" value="{fresh.pk}"' in html


def test_a_reply_can_come_with_the_move(desk: Client, fresh: Ticket) -> None:
    sent = {"text": "We ask the carrier.", "to": ON_HOLD, "reply": "1", "seen": str(seen_of(fresh))}

    assert desk.post(f"{LIST}{fresh.pk}/write/", sent).status_code == 302

    fresh.refresh_from_db()
    assert (fresh.status, Comment.objects.get().public) == (ON_HOLD, True)


def test_a_macro_can_move_there(company: Company) -> None:
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)

    html = client.get("/admin/desk/macro/add/").content.decode()

    assert re.search(r'<option value="7"[^>]*>On hold</option>', html)


def test_the_key_opens_the_dialog(
    tab: Tab,  # noqa: F811 - the fixture
    desk: Client,
    transactional_db: None,
    fresh: Ticket,
) -> None:
    tab.sign_in(desk)
    assert tab.visit(f"{LIST}{fresh.pk}/change/") == 200

    tab.press("h")

    tab.sees("#move-on-hold[open]")


def test_the_command_tells_of_it_and_moves_there(fresh: Ticket) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="7 On hold"):
        call_command("move_ticket", fresh.pk, 8, agent="ada")

    call_command("move_ticket", fresh.pk, ON_HOLD, agent="ada", reason="x", stdout=out)

    assert out.getvalue() == "7 On hold\n"


# The company and the API.


def test_the_company_sees_it_and_counts_it_as_active(api: APIClient, ticket: Ticket) -> None:
    answer = api.get("/company/tickets?status_group=active").json()

    (row,) = answer["data"]
    assert (row["ticket_status_id"], row["ticket_status_name"]) == (ON_HOLD, "on_hold")
    assert answer["counts"] == {"active": 1, "resolved": 0}
    assert api.get("/company/tickets?status=7").json()["total_rows"] == 1


def test_the_company_follows_it_up_and_cannot_ask_for_it(api: APIClient, ticket: Ticket) -> None:
    address = f"/company/tickets/{ticket.pk}"
    refused = api.put(address, {"ticket_status_id": ON_HOLD})
    assert refused.status_code == 400
    assert "Send 1, 5 or 10." in refused.content.decode()

    assert api.put(address, {"ticket_status_id": 5})["X-Ticket-Changed"] == "1"

    ticket.refresh_from_db()
    assert ticket.status == 5


def test_it_does_not_block_another_ticket(api: APIClient, ticket: Ticket) -> None:
    body = {"type_id": ticket.type_id, "shipment_id": ticket.shipment_id}

    assert api.post("/company/tickets", body).status_code == 200


def test_openapi_lists_it(client: Client) -> None:
    told = client.get("/schema", HTTP_ACCEPT="application/json").json()

    # Choices of requests are enums; those of answers are open.
    asked, answered = list(lists(told, "enum")), list(lists(told, "examples"))
    found = asked + answered
    assert [one for one in found if 10 in one and 4 in one and ON_HOLD not in one] == []
    assert [one for one in found if "in_review" in one and "on_hold" not in one] == []
    assert any(ON_HOLD in one for one in asked)
    assert any(ON_HOLD in one for one in answered)
    assert any("on_hold" in one for one in answered)
    assert "5 follows 4, 6 and 7 only." in str(told)


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
        assert (ON_HOLD, "On hold") in one.field.choices
    assert "ticket.status" in altered


def app_of(changes: dict[str, Any], wanted: Any) -> str:
    return next(app for app, all_ in changes.items() for one in all_ if wanted in one.operations)


def without_choices(field: Any) -> Any:
    _, path, given, options = field.deconstruct()
    return path, given, {name: value for name, value in options.items() if name != "choices"}


@pytest.mark.parametrize(
    "check",
    [
        test_api_docs.test_tells_every_status_and_what_may_be_asked_for,
        test_manual.test_tells_every_move,
        test_keys.test_the_manual_tells_the_keys_of_the_moves,
    ],
)
def test_documents_that_do_not_tell_of_it_are_noticed(check: Any) -> None:
    assert ON_HOLD in set(Status)
    with pytest.raises(AssertionError):
        check()
