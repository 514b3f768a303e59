"""Saved views: their owners, the settings that they keep, and their entries in the side bar."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companies.models import Company
from desk.models import SavedView
from desk.queue import views
from tests import builders as build
from tests.desk.words import words
from tickets.models import Agent

LIST = "/admin/tickets/ticket/"
VIEWS = f"{LIST}views/"
CAFE = "queue=open&o=due&type=4&company=Acme"


@pytest.fixture(autouse=True)
def no_old_badges(db: None) -> None:
    cache.clear()


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


def save(desk: Client, name: str = "Lost", query: str = CAFE, **more: Any) -> Any:
    return desk.post(VIEWS, {"name": name, "list": query, **more})


def in_side_bar(desk: Client, **query: Any) -> dict[str, dict[str, Any]]:
    groups = desk.get(LIST, query).context["sidebar_navigation"]
    return {
        item["title"]: item
        for group in groups
        if group["title"] == "Saved views"
        for item in group["items"]
    }


def test_keeps_queue_filters_and_order_under_a_name(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, type_id=4)
    build.ticket(company, type_id=5)

    answer = save(desk, query=f"{CAFE}&p=3&at=1.2&password=x")
    item = in_side_bar(desk)["Lost"]

    assert answer["Location"] == item["link"]
    assert item["badge"] == "1"
    listed = desk.get(item["link"])
    assert [one.pk for one in listed.context["cl"].result_list] == [ticket.pk]
    assert "password" not in item["link"]
    assert "p=3" not in item["link"]


def test_lights_up_instead_of_its_queue(desk: Client) -> None:
    save(desk, query="queue=open&type=4")

    groups = desk.get(LIST, {"queue": "open", "type": "4"}).context["sidebar_navigation"]

    lit = [item["title"] for group in groups for item in group["items"] if item.get("active")]
    assert [title for title in lit if title in ("Lost", "All open")] == ["Lost"]


def test_the_list_offers_to_save_just_what_it_shows(desk: Client, company: Company) -> None:
    html = desk.get(LIST, {"queue": "open", "type": "4"}).content.decode()
    address = html.split('id="save-view" href="')[1].split('"')[0]
    form = desk.get(address).content.decode()

    assert 'name="list" value="queue=open&amp;type=4"' in form


def test_leads_share_and_others_see_but_do_not_change(lead: Client, desk: Client) -> None:
    save(lead, "Claims", shared="1")
    view = SavedView.objects.get()

    assert "Claims" in in_side_bar(desk)
    assert desk.post(VIEWS, {"view": view.pk, "name": "Mine"}).status_code == 403
    assert desk.post(VIEWS, {"view": view.pk, "delete": "1"}).status_code == 403
    assert save(desk, "Not so", shared="1").status_code == 403
    assert list(SavedView.objects.values_list("name", flat=True)) == ["Claims"]


def test_nobody_sees_or_touches_another_s_view(lead: Client, desk: Client) -> None:
    save(desk, "Secret")
    view = SavedView.objects.get()

    assert in_side_bar(lead) == {}
    assert lead.post(VIEWS, {"view": view.pk, "delete": "1"}).status_code == 404
    assert SavedView.objects.exists()


def test_is_renamed_and_deleted(desk: Client) -> None:
    save(desk)
    view = SavedView.objects.get()

    desk.post(VIEWS, {"view": view.pk, "name": "Lost parcels"})
    assert list(in_side_bar(desk)) == ["Lost parcels"]
    view.refresh_from_db()
    assert "company=Acme" in view.query

    desk.post(VIEWS, {"view": view.pk, "delete": "1"})
    assert in_side_bar(desk) == {}


@pytest.mark.parametrize("name", ["", "  ", "\x00", "x" * 61, "Lost"])
def test_a_bad_name_is_told_and_what_was_typed_is_kept(desk: Client, name: str) -> None:
    save(desk)

    answer = save(desk, name, query="queue=mine")

    html = answer.content.decode()
    assert answer.status_code == 400
    assert "Name: " in words(html)
    assert 'name="list" value="queue=mine"' in html
    assert SavedView.objects.count() == 1


def test_there_is_an_end_to_how_many(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MOST_OWN", 2)

    assert [save(desk, str(number)).status_code for number in range(3)] == [302, 302, 400]


def test_counts_only_what_costs_little_and_not_again_for_a_while(
    desk: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company)
    save(desk, "Open", "queue=open")
    save(desk, "All", "queue=everything")
    save(desk, "Words", "q=Acme")

    badges = {title: item["badge"] for title, item in in_side_bar(desk).items()}
    with CaptureQueriesContext(connection) as queries:
        in_side_bar(desk)

    assert badges == {"Open": "1", "All": None, "Words": None}
    assert not any("desk_savedview" in one["sql"] for one in queries)
