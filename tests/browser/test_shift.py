"""A shift at the desk in a real browser, by keyboard alone: no test here uses a mouse."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies import services
from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Tab
from tickets import working
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.statuses import Status
from tools.dev.demo import ask

LIST = "/admin/tickets/ticket/"
ASKING = "Hello {company}, we need more about {tracking}."


Call = Callable[..., dict[str, Any]]


@pytest.fixture
def calls(live_server: LiveServer, company: Company) -> Call:
    """Return the company's program, which calls the API over HTTP."""
    token = services.issue_token(company.pk)

    def call(method: str, path: str, **body: object) -> dict[str, Any]:
        status, answer = ask(method, f"{live_server.url}{path}", token, body)
        assert status == 200, answer
        return answer

    return call


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    """Create Ada, who is assigned nothing automatically, so that there is something to take."""
    return build.agent("ada", available=False)


@pytest.fixture
def ticket(live_server: LiveServer, company: Company, ada: Agent) -> Ticket:
    return build.ticket(company, agent=ada, status=Status.IN_REVIEW, comments="It is broken.")


@pytest.fixture
def page(tab: Tab, desk: Client, ticket: Ticket) -> Tab:
    """Open the ticket's page as Ada."""
    tab.sign_in(desk)
    tab.visit(f"{LIST}{ticket.pk}/change/")
    tab.sees("#ticket")
    return tab


def log_in(tab: Tab) -> None:
    tab.visit("/admin/login/")
    tab.focused("#id_username")
    tab.type("ada")
    tab.press("Tab")
    tab.type("secret")
    tab.leave_by("Enter")


def to_the_queue(tab: Tab) -> None:
    tab.press("g")
    tab.leave_by("q")
    tab.sees("#result_list tr.data-row")


def open_from_the_queue(tab: Tab, ticket_id: int) -> None:
    """Move up with k, down with j past the ticket and back, and open it with Enter."""
    rows = tab.do(lambda page: page.locator("a.desk-row .desk-id").all_inner_texts())
    place = rows.index(f"#{ticket_id}")
    tab.press(*"k" * len(rows), *"j" * place)
    if place + 1 < len(rows):
        tab.press("j", "k")
    tab.sees("tr.desk-cursor", f"#{ticket_id}")
    tab.leave_by("Enter")
    assert tab.ticket == ticket_id


def comments(ticket: Ticket) -> list[tuple[str, str, bool]]:
    lines = Comment.objects.filter(ticket=ticket).order_by("pk")
    return list(lines.values_list("by", "text", "public"))


def test_a_shift_by_keyboard(tab: Tab, calls: Call, company: Company, ada: Agent) -> None:
    build.shipment(company, 4101, carrier_name="redpack")
    papers = "Invoice\nPhoto"
    build.macro("Proof of value", text=ASKING, move_to=Status.INCOMPLETE, requested=papers)
    claim = {"type_id": 4, "shipment_id": 4101, "comments": "It never came."}
    number = calls("POST", "/company/tickets", **claim)["id"]
    for _ in range(3):
        build.ticket(company, agent=ada)
    others = Ticket.objects.exclude(pk=number)

    log_in(tab)
    tab.visit(LIST)
    tab.sees("#desk-take")
    tab.leave_by("t")
    assert tab.ticket == number
    tab.sees(".desk-company", "It never came.")

    tab.press("n")
    tab.focused("#text")
    tab.type("Third one of this week.")
    tab.leave_by("Control+Enter")
    tab.sees(".desk-note", "Third one of this week.")

    tab.press("m")
    tab.focused("#macro")
    tab.type("Proof")
    tab.press("Enter")
    tab.focused("#text")
    assert tab.value("#text") == "Hello Acme, we need more about TEST0004101."
    tab.sees("#asks", "Invoice")
    tab.leave_by("Control+Enter")
    tab.sees(".desk-head .desk-pill", "Incomplete")
    tab.sees(".desk-left", "Waiting for the company.")

    answer = {"ticket_status_id": 5, "comments": "Here: https://files.example.com/invoice.pdf"}
    calls("PUT", f"/company/tickets/{number}", **answer)

    to_the_queue(tab)
    tab.sees("tr.data-row", "Follow up")
    open_from_the_queue(tab, number)
    tab.sees("#new", "New since you last looked")
    tab.sees(".desk-company:has(.desk-new)", "invoice.pdf")
    tab.sees(".desk-left", "The company has replied since.")

    tab.press("a")
    tab.focused("#move-accepted [data-codes] input")
    tab.type("aThank you. You get your money back.")
    tab.leave_by("Control+Enter")
    tab.sees("body", "1 ticket moved to Accepted.")
    assert tab.ticket != number

    ticket = Ticket.objects.get(pk=number)
    assert (ticket.status, ticket.agent) == (Status.ACCEPTED, ada)
    assert ticket.decided_at is not None
    assert comments(ticket) == [
        ("agent", "Third one of this week.", False),
        (
            "agent",
            "Hello Acme, we need more about TEST0004101.\nPlease send:\n- Invoice\n- Photo",
            True,
        ),
        ("company", "Here: https://files.example.com/invoice.pdf", True),
        ("agent", "Thank you. You get your money back.", True),
    ]
    moves = HistoryEntry.objects.moves().filter(ticket=ticket).order_by("pk")
    assert list(moves.values_list("now", "by")) == [
        (Status.INCOMPLETE, "agent"),
        (Status.FOLLOW_UP, "company"),
        (Status.ACCEPTED, "agent"),
    ]
    assert [line.actor for line in moves if line.by == "agent"] == ["ada", "ada"]
    assert not others.exclude(status=Status.PENDING).exists()


@pytest.mark.slow
def test_keys_of_a_ticket_s_page(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.focused("#text")
    page.sees("#aim-hint", "Reply: Ctrl+Enter sends it to the company.")
    page.type("raid, next")
    assert page.value("#text") == "raid, next"

    page.press("Escape")
    page.focused("body")
    page.press("n")
    page.focused("#text")
    page.sees(".desk-as-note #aim-hint", "Note: Ctrl+Enter keeps it among agents.")
    # Saving the draft a moment later must not change this hint.
    page.type(".")
    page.sees("#draft-hint", "Draft kept.")
    page.sees(".desk-as-note #aim-hint", "Note: Ctrl+Enter keeps it among agents.")

    page.press("Escape", "?")
    page.sees("#help", "take the next ticket")
    # While a dialog is open, letters do nothing on the page below it.
    page.press("d")
    page.sees("#help")
    page.misses("#move-declined")
    page.press("Escape")
    page.misses("#help")

    page.press("d")
    page.focused("#move-declined [data-codes] input")
    page.press("Escape")
    page.misses("#move-declined")
    assert page.value("#text") == "raid, next."
    ticket.refresh_from_db()
    assert (ticket.status, comments(ticket)) == (Status.IN_REVIEW, [])


@pytest.mark.slow
def test_a_dialog_asks_for_documents_by_keyboard(page: Tab, ticket: Ticket) -> None:
    build.macro("Any", text="", requested="Invoice\nPhoto")
    page.reload()

    page.press("i")
    page.focused("#reason-incomplete")
    page.press("Shift+Tab")
    page.type("Police report")
    page.press("Shift+Tab", "Space")
    page.leave_by("Tab", "Control+Enter")

    page.sees("body", "1 ticket moved to Incomplete.")
    assert comments(ticket) == [("agent", "Please send:\n- Photo\n- Police report", True)]


@pytest.mark.slow
def test_a_stale_page_keeps_the_text_and_sends_it_the_second_time(
    page: Tab, ticket: Ticket
) -> None:
    page.press("r")
    page.type("We look into it.")
    ben = build.agent("ben").user
    working.move(ticket.pk, Status.INCOMPLETE, user=ben, reason="Which box?")

    page.press("Control+Enter")

    page.sees(".desk-refusal", "Not sent. There is something new on this ticket.")
    page.refused()
    page.sees(".desk-unread", "ben moved it from In review to Incomplete.")
    page.sees(".desk-unread-agent", "Which box?")
    assert page.value("#text") == "We look into it."
    assert [text for _, text, _ in comments(ticket)] == ["Which box?"]

    # The new message has the focus: pressing the same key again sends nothing that was not read.
    page.focused(".desk-refusal")
    page.press("Control+Enter")
    page.press("r")
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "We look into it.")
    assert page.value("#text") == ""

    # A note that was held back stays a note, also for those who only tab to the box.
    page.press("n")
    page.type("Looks like fraud.")
    working.write(ticket.pk, "They pay.", user=ben, public=False)
    page.press("Control+Enter")
    page.sees(".desk-unread-note", "ben added a note")
    page.refused()
    page.tab_to("#text")
    page.leave_by("Control+Enter")
    page.sees(".desk-note", "Looks like fraud.")
    assert comments(ticket)[-1] == ("agent", "Looks like fraud.", False)


@pytest.mark.slow
def test_a_stale_dialog_keeps_the_reason(page: Tab, ticket: Ticket) -> None:
    page.press("d")
    page.focused("#move-declined [data-codes] input")
    page.type("aThe box was not ours.")
    working.move(ticket.pk, Status.ACCEPTED, user=build.agent("ben").user)

    page.leave_by("Control+Enter")

    page.refused()
    page.sees("[role=alert]", "ben moved it from In review to Accepted.")
    assert page.value("#id_reason") == "The box was not ours."
    ticket.refresh_from_db()
    assert (ticket.status, comments(ticket)) == (Status.ACCEPTED, [])


@pytest.mark.slow
def test_a_draft_survives_a_reload_and_goes_when_it_is_sent(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Dear all")
    page.sees("#draft-hint", "Draft kept.")

    page.reload()
    page.sees("#draft-hint", "Your draft is back.")
    assert page.value("#text") == "Dear all"

    page.press("r")
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "Dear all")
    assert page.value("#text") == ""
    page.reload()
    assert page.value("#text") == ""
    assert comments(ticket) == [("agent", "Dear all", True)]


@pytest.mark.slow
def test_names_a_colleague_and_hands_over_in_three_acts(page: Tab, ticket: Ticket) -> None:
    build.agent("maria.gonzalez")
    page.press("n")
    page.type("Ask @mar")
    page.sees(".desk-names [aria-selected=true]", "maria.gonzalez")
    page.press("Enter")
    page.misses(".desk-names")
    assert page.value("#text") == "Ask @maria.gonzalez "
    page.leave_by("Control+Enter")
    page.sees(".desk-note .desk-mention", "@maria.gonzalez")

    page.press("h")
    page.focused("#hand-over-to")
    page.type("maria")
    page.leave_by("Control+Enter")

    page.sees(".desk-event", "ada handed it over from ada to maria.gonzalez.")
    ticket.refresh_from_db()
    assert str(ticket.agent) == "maria.gonzalez"
