"""Layout that only a browser shows: what fits, what takes no room, and what is legible."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Chromium, Tab
from tests.browser.world import World
from tickets.models import Agent

LIST = "/admin/tickets/ticket/"
TALLER = "document.documentElement.scrollHeight - innerHeight"
LETTERS = 'document.querySelector(".desk-chart text").getBoundingClientRect().height'
CUT = """(() => { const last = document.querySelector("h1 a:last-of-type");
  return last.scrollWidth - last.clientWidth })()"""
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture
def phone(chromium: Chromium, live_server: LiveServer) -> Iterator[Tab]:
    with chromium.tab(live_server.url, **PHONE) as tab:
        yield tab
    assert tab.complaints == []


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada")


@pytest.mark.slow
def test_a_long_history_makes_no_ticket_taller_than_the_window(
    chromium: Chromium, live_server: LiveServer
) -> None:
    world, client = World(past=0, present=0), Client()
    client.force_login(world.ada.user)
    with chromium.tab(live_server.url, viewport={"width": 1440, "height": 700}) as tab:
        tab.sign_in(client)
        tab.visit(f"{LIST}{world.claim.pk}/change/")
        tab.do(lambda page: page.locator(".desk-history summary").first.click())
        tab.sees(".desk-history li")
        assert tab.do(lambda page: page.evaluate(TALLER)) <= 0


@pytest.mark.slow
def test_an_empty_deadline_takes_no_room_on_a_phone(
    phone: Tab, desk: Client, company: Company, ada: Agent
) -> None:
    build.ticket(company, agent=ada)
    phone.sign_in(desk)

    phone.visit(f"{LIST}?queue=mine")

    phone.sees("td.field-updated")
    phone.misses("td.field-due")
    phone.misses("td.field-filing")


@pytest.mark.slow
def test_the_letters_of_a_chart_can_be_read_on_a_phone(phone: Tab) -> None:
    client = Client()
    client.force_login(World(present=1).eve.user)
    phone.sign_in(client)

    phone.visit("/admin/")

    phone.sees(".desk-legend")
    assert phone.do(lambda page: page.evaluate(LETTERS)) >= 9


def test_the_side_bar_opens_by_keyboard_on_a_phone(phone: Tab, desk: Client) -> None:
    phone.sign_in(desk)
    phone.visit(f"{LIST}?queue=mine")
    phone.misses("#nav-sidebar")

    phone.tab_to("button[aria-label='Side bar']")
    phone.press("Enter")

    phone.sees("#nav-sidebar", "Waiting on company")


@pytest.mark.slow
def test_a_macro_is_read_line_by_line(tab: Tab, desk: Client) -> None:
    macro = build.macro(text="Hello {company},\n\nwe search.", requested="Invoice\nPhoto")
    tab.sign_in(desk)

    tab.visit(f"/admin/desk/macro/{macro.pk}/change/")

    assert tab.sees(".readonly", "we search.") == "Hello {company},\n\nwe search."
    assert tab.sees(".readonly", "Invoice") == "Invoice\nPhoto"


def test_a_wrong_password_is_told_once(tab: Tab, ada: Agent) -> None:
    tab.visit("/admin/login/")
    tab.focused("#id_username")
    tab.type("ada")
    tab.press("Tab")
    tab.type("not it")
    tab.leave_by("Enter")

    tab.sees(".errornote:visible", "correct username and password")
    assert tab.do(lambda page: page.locator(".errornote:visible").count()) == 1


@pytest.mark.slow
def test_the_heading_of_a_webhook_is_whole_on_a_phone(
    phone: Tab, desk: Client, company: Company
) -> None:
    hook = build.webhook(company)
    phone.sign_in(desk)

    phone.visit(f"/admin/webhooks/webhook/{hook.pk}/change/")

    assert phone.sees("h1").strip() == f"Webhook {hook.pk}"
    assert phone.do(lambda page: page.evaluate(CUT)) == 0
