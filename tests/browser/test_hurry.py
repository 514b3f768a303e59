"""An agent in a hurry: a wrong word, Back, two tabs, a lost connection; nothing unseen or twice."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Chromium, Tab
from tickets.models import Agent, Comment, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada", available=False)


@pytest.fixture
def ticket(live_server: LiveServer, company: Company, ada: Agent) -> Ticket:
    """Ada's, beside another of hers, with two macros that decline and one that asks."""
    build.ticket(company, agent=ada, status=Status.IN_REVIEW, comments="The other one.")
    build.macro("Rechazar: entregado", text="It was delivered.", move_to=Status.DECLINED)
    build.macro("Rechazar: faltan pruebas", text="Nothing came.", move_to=Status.DECLINED)
    papers = {"move_to": Status.INCOMPLETE, "requested": "Invoice"}
    build.macro("Daño: pedir fotos", text="Please send photos.", **papers)
    return build.ticket(company, agent=ada, status=Status.IN_REVIEW, comments="It is broken.")


@pytest.fixture
def page(tab: Tab, desk: Client, ticket: Ticket) -> Tab:
    tab.sign_in(desk)
    tab.visit(f"{LIST}?queue=mine")
    tab.sees("tr.data-row")
    tab.do(lambda page: page.locator(f"tr[data-ticket='{ticket.pk}'] a.desk-row").click())
    tab.sees("#ticket")
    return tab


@pytest.fixture
def second(page: Tab, chromium: Chromium) -> Iterator[Tab]:
    """A further tab of the same browser."""
    other = Tab(chromium, page.context, page.base)
    yield other
    assert other.complaints == []


def said(ticket: Ticket) -> list[str]:
    return list(Comment.objects.filter(ticket=ticket).order_by("pk").values_list("text", flat=True))


def status(ticket: Ticket) -> int:
    return Ticket.objects.get(pk=ticket.pk).status


@pytest.mark.parametrize("typed", ["Rechazar: ya pagado", "zzz", "Rechazar", "a"])
def test_a_wrong_word_in_the_macro_box_sends_nothing(page: Tab, ticket: Ticket, typed: str) -> None:
    page.press("m")
    page.focused("#macro")
    page.type(typed)
    page.press("Control+Enter", "Control+Enter")
    page.sees("#macro-hint", "macro has these words")
    page.focused("#macro")
    page.press("Escape")
    page.reload()
    page.sees("#ticket")
    assert (said(ticket), status(ticket)) == ([], Status.IN_REVIEW)


def test_a_macro_that_decides_is_read_before_it_is_sent(page: Tab, ticket: Ticket) -> None:
    page.press("m")
    page.type("prueb")
    page.sees(".desk-names [aria-selected=true]", "Nothing came.")
    page.sees(".desk-names [aria-selected=true]", "move to Declined")
    page.press("Control+Enter")
    page.focused("#text")
    assert page.value("#text") == "Nothing came."
    page.sees("#aim-hint", "move to Declined")
    assert (said(ticket), status(ticket)) == ([], Status.IN_REVIEW)

    page.leave_by("Control+Enter")
    page.sees(".desk-head .desk-pill", "Declined")
    assert (said(ticket), status(ticket)) == (["Nothing came."], Status.DECLINED)


@pytest.mark.parametrize("typed", ["dano fotos", "FOTOS", "pedir"])
def test_a_macro_is_found_by_any_part_of_its_name_and_sent(
    page: Tab, ticket: Ticket, typed: str
) -> None:
    page.press("m")
    page.type(typed)
    page.leave_by("Control+Enter")
    page.sees(".desk-head .desk-pill", "Incomplete")
    assert said(ticket) == ["Please send photos.\nPlease send:\n- Invoice"]


def test_a_macro_beside_other_words_is_read_first(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Hello")
    page.press("Escape", "m")
    page.type("pedir")
    page.press("Control+Enter")
    page.focused("#text")
    assert page.value("#text") == "Hello\n\nPlease send photos."
    assert said(ticket) == []


def test_an_arrow_chooses_one_of_several_macros(page: Tab, ticket: Ticket) -> None:
    page.press("m")
    page.type("rechazar")
    page.press("ArrowDown", "Enter")
    page.focused("#text")
    assert page.value("#text") == "Nothing came."
    assert said(ticket) == []


def test_back_after_a_reply_leads_to_the_list_and_brings_no_text(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("We look into it.")
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "We look into it.")
    assert page.value("#text") == ""

    page.do(lambda one: one.go_back())
    page.sees("#result_list tr.data-row")
    assert "queue=mine" in page.url
    page.do(lambda one: one.go_forward())
    page.sees(".desk-agent", "We look into it.")
    assert page.value("#text") == ""
    assert said(ticket) == ["We look into it."]


def test_back_after_a_move_leads_to_the_list(page: Tab, ticket: Ticket) -> None:
    page.press("d")
    page.focused("#reason-declined")
    page.type("Too late.")
    page.leave_by("Control+Enter")
    page.do(lambda one: one.go_back())
    page.sees("#result_list")
    assert "queue=mine" in page.url
    assert said(ticket) == ["Too late."]


def test_what_one_tab_has_sent_goes_from_the_other(page: Tab, second: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Once only.")
    page.sees("#draft-hint", "Draft kept.")
    second.visit(f"{LIST}{ticket.pk}/change/")
    second.sees("#draft-hint", "Your draft is back.")

    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "Once only.")
    second.sees("#draft-hint", "Sent from another tab.")
    assert second.value("#text") == ""
    assert said(ticket) == ["Once only."]


def test_the_same_text_within_a_minute_asks_first(page: Tab, ticket: Ticket) -> None:
    for _ in range(2):
        page.press("r")
        page.type("We look into it.")
        page.press("Control+Enter")
        page.sees(".desk-agent, .desk-refusal", "")
        page.do(lambda one: one.wait_for_load_state())
    page.sees(".desk-refusal", "You sent the same text to this ticket a moment ago.")
    page.refused()
    assert said(ticket) == ["We look into it."]

    page.press("r")
    page.leave_by("Control+Enter")
    page.misses(".desk-refusal")
    assert said(ticket) == ["We look into it."] * 2


def test_a_lost_connection_keeps_the_text_and_the_page(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Written in a tunnel.")
    page.do(lambda one: one.context.set_offline(True))
    page.press("Control+Enter")
    page.sees(".desk-offline", "No connection")
    assert page.value("#text") == "Written in a tunnel."
    assert said(ticket) == []

    page.do(lambda one: one.context.set_offline(False))
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "Written in a tunnel.")
    assert said(ticket) == ["Written in a tunnel."]
    page.complaints.clear()
