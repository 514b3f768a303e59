"""An agent in a hurry: a wrong word, Back, two tabs, a lost connection; nothing unseen or twice."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Chromium, Tab
from tickets import updating
from tickets.changes.actors import Actor
from tickets.models import Agent, Comment, ReasonCode, Ticket
from tickets.statuses import By, Status

LIST = "/admin/tickets/ticket/"
# Further words to type into the macro box; they run in CI only.
WRONG_WORDS = ("Rechazar: ya pagado", "Rechazar", "a")
PARTS = ("FOTOS", "pedir")


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada", available=False)


@pytest.fixture
def ticket(live_server: LiveServer, company: Company, ada: Agent) -> Ticket:
    """Create Ada's ticket next to another of hers, two macros that decline and one that asks."""
    build.ticket(company, agent=ada, status=Status.IN_REVIEW, comments="The other one.")
    build.macro("Rechazar: entregado", text="It was delivered.", move_to=Status.DECLINED)
    codes = {"reason_code": ReasonCode.objects.get(code="evidence_missing")}
    refusing = {"text": "Nothing came.", "move_to": Status.DECLINED}
    build.macro("Rechazar: faltan pruebas", **refusing, **codes)
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
    """Open a second tab of the same browser."""
    other = Tab(chromium, page.context, page.base)
    yield other
    assert other.complaints == []


def comment_texts(ticket: Ticket) -> list[str]:
    return list(Comment.objects.filter(ticket=ticket).order_by("pk").values_list("text", flat=True))


def status(ticket: Ticket) -> int:
    return Ticket.objects.get(pk=ticket.pk).status


def code(ticket: Ticket) -> str:
    return Ticket.objects.get(pk=ticket.pk).reason_code


@pytest.mark.parametrize(
    "typed", ["zzz", *(pytest.param(each, marks=pytest.mark.slow) for each in WRONG_WORDS)]
)
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
    assert (comment_texts(ticket), status(ticket)) == ([], Status.IN_REVIEW)


@pytest.mark.slow
def test_a_macro_that_decides_is_read_before_it_is_sent(page: Tab, ticket: Ticket) -> None:
    page.press("m")
    page.type("prueb")
    page.sees(".desk-names [aria-selected=true]", "Nothing came.")
    page.sees(".desk-names [aria-selected=true]", "move to Declined")
    page.press("Control+Enter")
    page.focused("#text")
    assert page.value("#text") == "Nothing came."
    page.sees("#aim-hint", "move to Declined · reason code: Evidence is missing")
    assert (comment_texts(ticket), status(ticket)) == ([], Status.IN_REVIEW)

    page.leave_by("Control+Enter")
    page.sees(".desk-head .desk-pill", "Declined")
    assert (comment_texts(ticket), status(ticket)) == (["Nothing came."], Status.DECLINED)
    assert code(ticket) == "evidence_missing"


@pytest.mark.slow
def test_a_macro_without_a_code_asks_for_one_by_a_letter(page: Tab, ticket: Ticket) -> None:
    page.press("m")
    page.type("entregado")
    page.press("Control+Enter")
    page.focused("#composer [data-codes='3'] input")
    page.sees("#aim-hint", "reason code: choose one")
    page.press("Control+Enter")
    assert (comment_texts(ticket), status(ticket)) == ([], Status.IN_REVIEW)
    page.press("d")
    page.focused("#text")
    page.sees("#aim-hint", "reason code: Delivered as agreed")
    page.leave_by("Control+Enter")
    page.sees(".desk-head .desk-pill", "Declined")
    assert (comment_texts(ticket), code(ticket)) == (["It was delivered."], "delivered")


@pytest.mark.slow
def test_a_move_beside_the_text_sends_nothing_without_a_code(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("No.")
    page.do(lambda one: one.locator("#to").select_option(str(Status.DECLINED.value)))
    page.do(lambda one: one.locator("#text").focus())
    page.press("Control+Enter")
    page.focused("#composer [data-codes='3'] input")
    assert page.value("#text") == "No."
    assert status(ticket) == Status.IN_REVIEW
    page.do(lambda one: one.locator("#to").select_option(""))
    page.misses("#composer [data-codes]")
    page.do(lambda one: one.locator("#text").focus())
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "No.")
    assert (comment_texts(ticket), status(ticket)) == (["No."], Status.IN_REVIEW)


@pytest.mark.slow
def test_a_dialog_takes_a_letter_and_then_the_text(page: Tab, ticket: Ticket) -> None:
    page.press("d")
    page.focused("#move-declined [data-codes] input")
    page.press("Control+Enter")
    page.type("cToo late.")
    page.focused("#reason-declined")
    assert page.value("#reason-declined") == "Too late."
    page.leave_by("Control+Enter")
    assert (comment_texts(ticket), code(ticket)) == (["Too late."], "claimed_late")


@pytest.mark.slow
def test_a_text_begun_before_the_code_is_whole_and_waits(page: Tab, ticket: Ticket) -> None:
    page.press("d")
    page.type("Too late.")
    assert page.value("#reason-declined") == "Too late."
    page.press("Control+Enter")
    page.focused("#move-declined [data-codes] input")
    assert status(ticket) == Status.IN_REVIEW
    page.press("c")
    page.leave_by("Control+Enter")
    assert (comment_texts(ticket), code(ticket)) == (["Too late."], "claimed_late")


@pytest.mark.slow
def test_many_are_declined_by_a_letter(page: Tab, ticket: Ticket) -> None:
    page.press("Escape")
    page.visit(f"{LIST}move/{Status.DECLINED.value}/?ticket={ticket.pk}")
    page.focused(".desk-ask [data-codes] input")
    page.type("bNo.")
    page.leave_by("Control+Enter")
    assert (comment_texts(ticket), code(ticket)) == (["No."], "packaging")


@pytest.mark.parametrize(
    "typed", ["dano fotos", *(pytest.param(each, marks=pytest.mark.slow) for each in PARTS)]
)
def test_a_macro_is_found_by_any_part_of_its_name_and_sent(
    page: Tab, ticket: Ticket, typed: str
) -> None:
    page.press("m")
    page.type(typed)
    page.leave_by("Control+Enter")
    page.sees(".desk-head .desk-pill", "Incomplete")
    assert comment_texts(ticket) == ["Please send photos.\nPlease send:\n- Invoice"]


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["Pedir", "pedir ", "PÉDIR"])
def test_a_whole_name_wins_over_longer_ones(page: Tab, ticket: Ticket, typed: str) -> None:
    build.macro("Pedir", text="What happened?")
    build.macro("pedir: factura", text="The invoice, please.")
    page.reload()
    page.sees("#ticket")
    page.press("m")
    page.type(typed)
    page.sees(".desk-names [aria-selected=true]", "What happened?")
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "What happened?")
    assert comment_texts(ticket) == ["What happened?"]


@pytest.mark.slow
def test_two_macros_of_nearly_one_name_are_a_choice(page: Tab, ticket: Ticket) -> None:
    build.macro("Pedir", text="What happened?")
    build.macro("pedir", text="Who received it?")
    page.reload()
    page.sees("#ticket")
    page.press("m")
    page.type("pedir")
    page.press("Control+Enter")
    page.sees("#macro-hint", "macro has these words")
    page.press("Backspace", "x", "Control+Enter")
    page.sees("#macro-hint", "No macro has these words")
    assert comment_texts(ticket) == []


@pytest.mark.slow
def test_an_arrow_away_from_a_whole_name_is_no_choice(page: Tab, ticket: Ticket) -> None:
    build.macro("Pedir", text="What happened?")
    page.reload()
    page.sees("#ticket")
    page.press("m")
    page.type("pedir")
    page.press("ArrowDown", "Control+Enter")
    page.sees("#macro-hint", "macro has these words")
    assert comment_texts(ticket) == []


@pytest.mark.slow
def test_a_macro_beside_other_words_is_read_first(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Hello")
    page.press("Escape", "m")
    page.type("pedir")
    page.press("Control+Enter")
    page.focused("#text")
    assert page.value("#text") == "Hello\n\nPlease send photos."
    assert comment_texts(ticket) == []


@pytest.mark.slow
def test_an_arrow_chooses_one_of_several_macros(page: Tab, ticket: Ticket) -> None:
    page.press("m")
    page.type("rechazar")
    page.press("ArrowDown", "Enter")
    page.focused("#text")
    assert page.value("#text") == "Nothing came."
    assert comment_texts(ticket) == []


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
    assert comment_texts(ticket) == ["We look into it."]


@pytest.mark.slow
def test_draft_comes_back_with_its_decision_and_can_be_continued(page: Tab, ticket: Ticket) -> None:
    page.press("m")
    page.type("prueb")
    page.press("Control+Enter")
    page.focused("#text")
    page.sees("#draft-hint", "Draft kept.")
    page.expects("401 (Unauthorized)")
    Session.objects.all().delete()
    page.reload()
    page.sees("#login-form")
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    page.sign_in(client)
    page.visit(f"{LIST}{ticket.pk}/change/")

    page.sees("#aim-hint", "move to Declined · reason code: Evidence is missing")
    page.press("r")
    page.type(" So far.")
    assert page.value("#text") == "Nothing came. So far."
    page.leave_by("Control+Enter")
    page.sees(".desk-head .desk-pill", "Declined")
    assert (comment_texts(ticket), code(ticket)) == (["Nothing came. So far."], "evidence_missing")


@pytest.mark.slow
def test_a_macro_that_decides_is_read_also_where_nothing_is_left_to_decide(
    page: Tab, ticket: Ticket
) -> None:
    Ticket.objects.filter(pk=ticket.pk).update(status=Status.ACCEPTED)
    page.reload()
    page.sees("#ticket")
    page.press("m")
    page.type("prueb")
    page.press("Control+Enter")
    page.focused("#text")
    assert comment_texts(ticket) == []


@pytest.mark.slow
def test_back_after_a_move_leads_to_the_list(page: Tab, ticket: Ticket) -> None:
    page.press("d")
    page.type("cToo late.")
    page.leave_by("Control+Enter")
    page.do(lambda one: one.go_back())
    page.sees("#result_list")
    assert "queue=mine" in page.url
    assert comment_texts(ticket) == ["Too late."]


@pytest.mark.slow
def test_sent_text_disappears_from_the_other_tab(page: Tab, second: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Once only.")
    page.sees("#draft-hint", "Draft kept.")
    second.visit(f"{LIST}{ticket.pk}/change/")
    second.sees("#draft-hint", "Your draft is back.")

    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "Once only.")
    second.sees("#draft-hint", "Sent from another tab.")
    assert second.value("#text") == ""
    assert comment_texts(ticket) == ["Once only."]


@pytest.mark.slow
def test_the_same_text_within_a_minute_asks_first(page: Tab, ticket: Ticket) -> None:
    for _ in range(2):
        page.press("r")
        page.type("We look into it.")
        page.press("Control+Enter")
        page.sees(".desk-agent, .desk-refusal", "")
        page.do(lambda one: one.wait_for_load_state())
    page.sees(".desk-refusal", "You sent the same text to this ticket a moment ago.")
    page.refused()
    assert comment_texts(ticket) == ["We look into it."]

    page.press("r")
    page.leave_by("Control+Enter")
    page.misses(".desk-refusal")
    assert comment_texts(ticket) == ["We look into it."] * 2


@pytest.mark.slow
def test_a_lost_connection_keeps_the_text_and_the_page(page: Tab, ticket: Ticket) -> None:
    page.press("r")
    page.type("Written in a tunnel.")
    page.expects("ERR_INTERNET_DISCONNECTED")
    page.do(lambda one: one.context.set_offline(True))
    page.press("Control+Enter")
    page.sees(".desk-offline", "No connection")
    assert page.value("#text") == "Written in a tunnel."
    assert comment_texts(ticket) == []

    page.do(lambda one: one.context.set_offline(False))
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "Written in a tunnel.")
    assert comment_texts(ticket) == ["Written in a tunnel."]


HOLD_ANSWERS = """() => {
  const send = window.fetch;
  window.held = [];
  window.fetch = async (...given) => {
    const answer = await send(...given);
    await new Promise((go) => window.held.push(go));
    return answer;
  };
}"""


@pytest.mark.slow
def test_late_answer_does_not_hide_a_lost_connection(page: Tab, ticket: Ticket) -> None:
    page.visit(f"{LIST}?queue=mine")
    page.do(lambda one: one.evaluate(HOLD_ANSWERS))
    page.wait_for("window.held.length")
    page.do(lambda one: one.evaluate("window.dispatchEvent(new Event('offline'))"))
    page.sees("#desk-lost")

    page.do(lambda one: one.evaluate("window.held.shift()()"))
    # A further held answer shows that the script has read this one.
    page.wait_for("window.held.length")
    page.sees("#desk-lost")
    page.do(lambda one: one.evaluate("window.held.shift()()"))
    page.misses("#desk-lost")


@pytest.mark.slow
def test_a_lost_connection_is_shown_and_the_page_catches_up(
    page: Tab, company: Company, ticket: Ticket
) -> None:
    page.visit(f"{LIST}?queue=mine")
    page.sees("tr.data-row")
    page.expects("ERR_INTERNET_DISCONNECTED")
    page.do(lambda one: one.context.set_offline(True))
    page.sees("#desk-lost", "No connection. This page is as it was at")
    # Acts on the list add no page to the browser's history, and the ticks stay.
    page.do(lambda one: one.locator(f"tr[data-ticket='{ticket.pk}'] .action-select").check())
    page.do(lambda one: one.select_option("select[name=action]", "move_to_in_review"))
    page.do(lambda one: one.evaluate("document.getElementById('changelist-form').requestSubmit()"))
    page.sees("#desk-lost", "nothing was sent")
    page.sees("tr.data-row")
    updating.comment(company, ticket.pk, Actor(By.COMPANY, "tok"), "Any news?")

    page.do(lambda one: one.context.set_offline(False))
    page.misses("#desk-lost")
    page.sees(".desk-row-changed")


@pytest.mark.slow
def test_companies_are_offered_while_a_caller_waits(page: Tab, company: Company) -> None:
    cafe = build.company("Café Altura Chiapaneca")
    build.company("Ferretería Ñandú")
    page.visit(f"{LIST}new/")
    page.focused("#id_company")
    page.type("altura")
    page.sees(".desk-names [aria-selected=true]", "Café Altura Chiapaneca")
    page.press("Tab")
    page.focused("#id_type")
    assert page.value("#id_company") == cafe.name
    # Typed faster than the list loads: the whole name is there before anything is sent.
    page.do(lambda one: one.fill("#id_company", "nandu"))
    page.do(lambda one: one.select_option("#id_type", "3"))
    page.sees("#id_text")
    assert page.value("#id_company") == "Ferretería Ñandú"


@pytest.mark.slow
def test_handing_over_to_a_full_colleague_takes_two_acts(page: Tab, ticket: Ticket) -> None:
    for name in ("ben", "berta"):
        build.agent(name, capacity=0)
    page.press("h")
    page.focused("#hand-over-to")
    page.type("be")
    page.sees(".desk-names [aria-selected=true]", "ben")
    page.press("Enter")
    page.sees("#hand-over-help.desk-warn", "ben is at capacity")
    # Changing the name clears the warning, and the whole name brings it back.
    page.press("Backspace", "Backspace")
    page.misses("#hand-over-help.desk-warn")
    page.type("en")
    page.sees("#hand-over-help.desk-warn", "ben is at capacity")

    page.leave_by("Control+Enter")

    page.sees(".desk-facts", "ben")
    assert str(Ticket.objects.get(pk=ticket.pk).agent) == "ben"


@pytest.mark.slow
def test_back_after_several_moves_leads_to_the_list_and_to_no_sent_form(
    page: Tab, ticket: Ticket
) -> None:
    page.do(lambda one: one.go_back())
    page.sees("tr.data-row")
    page.press("x", "x")
    page.leave_by("d")
    page.focused("[data-codes] input")
    page.press("c")
    page.type("Too late for both.")
    page.leave_by("Control+Enter")
    page.sees(".desk-bar")
    assert "queue=mine" in page.url
    page.do(lambda one: one.go_back())
    page.sees(".desk-bar")
    assert "queue=mine" in page.url
    page.misses("form.desk-ask")
    assert "Too late for both." not in page.do(lambda one: one.content())
