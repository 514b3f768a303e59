"""The desk without scripts, by keyboard alone, and on paper."""

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from tests.browser.chromium import Chromium, Tab
from tests.browser.world import World
from tickets.models import Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
# The focused element, and whether its outline is visible.
STOP = """(() => { const at = document.activeElement;
  const outlined = (one) => { const look = one && getComputedStyle(one);
    return look && look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2 };
  return at === document.body ? null : {
    name: at.id || at.name || at.textContent.trim().slice(0, 30),
    tag: at.tagName, seen: outlined(at) || outlined(at.closest("tr")) } })()"""
CONTROLS = """[...document.querySelectorAll("#main :is(button, textarea, select), #nav-sidebar")]
  .filter(one => one.checkVisibility({ visibilityProperty: true })).map(
  one => one.outerHTML.slice(0, 80))"""
HIDDEN_WORDS = """(() => { const thread = document.getElementById("thread");
  return thread.scrollHeight - thread.clientHeight })()"""
PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture
def world(live_server: LiveServer) -> World:
    return World(past=0, present=2)


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.ada.user)
    return client


def click(tab: Tab, selector: str) -> None:
    tab.do(lambda page: page.locator(selector).first.click())


@pytest.mark.slow
def test_tickets_are_found_answered_moved_and_reassigned_without_scripts(
    chromium: Chromium, live_server: LiveServer, world: World, ada: Client
) -> None:
    with chromium.tab(live_server.url, java_script_enabled=False) as tab:
        tab.sign_in(ada)
        tab.visit(f"{LIST}?queue=open")
        tab.do(lambda page: page.locator("#changelist-filter [type=checkbox]").first.check())
        click(tab, "#changelist-filter button[type=submit]")
        assert "status" in tab.url

        tab.visit(f"{LIST}?queue=mine")
        click(tab, f"a[href*='/ticket/{world.claim.pk}/']")
        tab.do(lambda page: page.locator("#text").fill("We are looking for it."))
        click(tab, "#send-reply")
        assert "We are looking for it." in tab.sees("#thread", "We are looking for it.")
        click(tab, "#open-in-review")
        tab.sees("h1", "Review")
        click(tab, "form .desk-primary")
        assert Ticket.objects.get(pk=world.claim.pk).status == Status.IN_REVIEW

        tab.sees("#nav-sidebar", "Unassigned")
        click(tab, "#logout-form button")
        tab.visit(LIST)
        tab.sees("#login-form")
    assert tab.complaints == []


@pytest.mark.slow
def test_the_tab_key_shows_where_it_is_passes_the_side_bar_and_leaves_the_page(
    tab: Tab, world: World, ada: Client
) -> None:
    tab.sign_in(ada)
    for address in (f"{LIST}?queue=open", f"{LIST}{world.claim.pk}/change/"):
        tab.visit(address)
        tab.press("Tab")
        tab.sees(".desk-skip:focus", "Skip")
        tab.press("Enter", "Tab")
        assert tab.do(
            lambda page: page.evaluate("document.activeElement.closest('#content') !== null")
        )

        stops = tab.do(stops_of)

        assert stops[-1] is None
        assert [stop for stop in stops if stop and not stop["seen"]] == []


def stops_of(page: object) -> list[dict[str, object] | None]:
    """Yield where the Tab key leads until the end of the page, which is None."""
    stops = []
    for _ in range(150):
        stops.append(page.evaluate(STOP))
        if stops[-1] is None:
            break
        page.keyboard.press("Tab")
    return stops


@pytest.mark.slow
def test_a_ticket_on_paper_is_its_whole_conversation_in_the_light(
    tab: Tab, world: World, ada: Client
) -> None:
    tab.sign_in(ada)
    tab.theme("dark")
    tab.visit(f"{LIST}{world.claim.pk}/change/")
    tab.sees("html.dark #thread")

    tab.do(lambda page: page.emulate_media(media="print"))

    assert tab.do(lambda page: page.evaluate(HIDDEN_WORDS)) <= 0
    assert tab.do(lambda page: page.evaluate(CONTROLS)) == []
    assert tab.do(lambda page: page.evaluate(PAPER)) == "rgb(255, 255, 255)"
    assert tab.violations(runOnly={"type": "rule", "values": ["color-contrast"]}) == []
    tab.sees("#thread", "The parcel has not moved for a week.")
