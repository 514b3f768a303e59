# ruff: noqa: F811
"""An agent in a hurry takes back what was sent by mistake."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from desk import jobs
from tests import builders as build
from tests import files
from tests.browser.chromium import Chromium, Tab
from tests.browser.test_hurry import LIST, ada, comment_texts, page, second, status, ticket  # noqa: F401
from tests.conftest import signed_in
from tickets.models import PendingAnswer, Ticket
from tickets.statuses import Status

BAR = "#desk-waits .desk-waits-one"


@pytest.fixture(autouse=True)
def long_undo_delay(settings: Settings) -> None:
    """Set a delay that no machine exceeds within a test."""
    settings.UNDO_SECONDS = 600


def decline(tab: Tab) -> None:
    tab.press("m")
    tab.focused("#macro")
    tab.type("prueb")
    tab.sees(".desk-names [aria-selected=true]", "Decline")
    tab.press("Control+Enter")
    tab.focused("#text")
    tab.press("Control+Enter")
    tab.sees(BAR, "Decline")


def refuse_all(tab: Tab) -> None:
    """Fill in and confirm the dialog of a bulk action."""
    tab.do(lambda one: one.locator("[name=code][value=other]").check())
    tab.do(lambda one: one.locator("[name=reason]").fill("Too late."))
    tab.leave_by("Control+Enter")


def let_time_pass() -> None:
    PendingAnswer.objects.waiting().update(due_at=timezone.now())


def test_undo_by_key_brings_the_text_back(page: Tab, ticket: Ticket) -> None:
    decline(page)
    assert "Sent to the company" not in page.sees("#main")
    page.leave_by("z")
    page.sees(".desk-refusal", "Taken back. It was not sent.")
    assert page.value("#text") == "Nothing came."
    assert page.value("#to") == "3"
    assert (comment_texts(ticket), status(ticket)) == ([], Status.IN_REVIEW)

    page.press("r")
    page.type(" So far.")
    page.sees("#draft-hint", "Draft kept.")
    page.reload()
    page.sees("#draft-hint", "Your draft is back.")
    assert "So far." in page.value("#text")
    page.press("r", "Control+Enter")
    page.sees(BAR, "leaves in")
    page.press("Control+Enter")
    page.sees(BAR, "Sent to the company.")
    assert status(ticket) == Status.DECLINED
    assert len(comment_texts(ticket)) == 1


@pytest.mark.slow
def test_the_second_ctrl_enter_sends_at_once(page: Tab, ticket: Ticket) -> None:
    decline(page)
    assert comment_texts(ticket) == []
    page.press("Control+Enter")
    page.sees(BAR, "Sent to the company.")
    assert (comment_texts(ticket), status(ticket)) == (["Nothing came."], Status.DECLINED)
    page.press("Control+Enter", "z")
    page.reload()
    page.misses(BAR)
    assert comment_texts(ticket) == ["Nothing came."]


@pytest.mark.slow
def test_second_ctrl_enter_sends_only_from_an_empty_box(page: Tab, ticket: Ticket) -> None:
    decline(page)
    page.press("r")
    page.type("z")
    page.press("Control+Enter")
    page.sees(".desk-refusal", "Your last answer to this ticket waits.")
    page.refused()
    assert comment_texts(ticket) == []
    page.do(lambda one: one.locator("#text").fill(""))
    page.press("Control+Enter")
    page.sees(BAR, "Sent to the company.")
    assert comment_texts(ticket) == ["Nothing came."]


@pytest.mark.slow
def test_newer_text_stands_below_the_restored_one(page: Tab, ticket: Ticket) -> None:
    decline(page)
    page.press("r")
    page.type("Second thoughts.")
    page.sees("#draft-hint", "Draft kept.")
    page.press("Escape")
    page.leave_by("z")
    page.sees("#draft-hint", "Your draft is back.")
    assert page.value("#text") == "Nothing came.\n\nSecond thoughts."


@pytest.mark.slow
def test_a_file_comes_back_with_the_words(page: Tab, ticket: Ticket) -> None:
    photo = {"name": "box.jpg", "mimeType": "image/jpeg", "buffer": files.photo()}
    page.press("r")
    page.type("See the box.")
    page.do(lambda one: one.locator("#files").set_input_files([photo]))
    page.press("Control+Enter")
    page.sees(BAR, "Reply")
    page.leave_by("z")
    page.sees("#composer", "box.jpg")
    assert page.value("#text") == "See the box."
    page.press("r", "Control+Enter")
    page.sees(BAR, "leaves in")
    page.press("Control+Enter")
    page.sees(BAR, "Sent to the company.")
    assert [one.name for one in ticket.files.all()] == ["box.jpg"]


@pytest.mark.slow
def test_open_next_goes_on_and_the_keys_mean_the_newest(page: Tab, ticket: Ticket) -> None:
    page.leave_by("k")
    page.sees("#composer")
    first = page.ticket
    page.do(lambda one: one.locator("#and-next").check())
    page.press("Escape", "r")
    page.type("First.")
    page.leave_by("Control+Enter")
    page.sees(BAR, f"Reply: ticket {first}")
    assert page.ticket == ticket.pk
    page.press("r")
    page.type("Second.")
    page.press("Control+Enter")
    page.sees(BAR, f"Reply: ticket {ticket.pk}")
    page.leave_by("z")
    page.sees("#text")
    assert (page.ticket, page.value("#text")) == (ticket.pk, "Second.")
    page.sees(BAR, f"Reply: ticket {first}")
    assert PendingAnswer.objects.waiting().count() == 1


@pytest.mark.slow
def test_bar_leaves_by_the_page_s_own_clock(page: Tab, ticket: Ticket) -> None:
    decline(page)
    PendingAnswer.objects.update(due_at=timezone.now() + timedelta(seconds=1))
    page.reload()
    page.sees(BAR, "Sent to the company.")
    assert (comment_texts(ticket), PendingAnswer.objects.count()) == (["Nothing came."], 0)


@pytest.mark.slow
def test_the_bar_goes_along_and_survives_a_reload_and_back(page: Tab, ticket: Ticket) -> None:
    decline(page)
    page.reload()
    page.sees(BAR, f"ticket {ticket.pk}")
    page.press("g", "q")
    page.sees("#result_list")
    page.sees(BAR, f"ticket {ticket.pk}")
    page.do(lambda one: one.go_back())
    page.sees("#composer")
    page.sees(BAR, f"ticket {ticket.pk}")
    page.visit("/admin/notifications/")
    page.leave_by("z")
    page.sees("#text")
    assert page.ticket == ticket.pk
    assert page.value("#text") == "Nothing came."


@pytest.mark.slow
def test_two_tabs_show_one_bar_and_undo_once(page: Tab, second: Tab, ticket: Ticket) -> None:
    decline(page)
    second.visit(LIST)
    second.sees(BAR, f"ticket {ticket.pk}")
    second.leave_by("z")
    second.sees(".desk-refusal", "Taken back.")
    page.press("Control+Enter")
    page.misses(BAR)
    assert "Sent to the company" not in page.sees("#main")
    assert comment_texts(ticket) == []


@pytest.mark.slow
def test_answer_is_held_when_the_company_writes_meanwhile(
    page: Tab, ticket: Ticket, company: Company
) -> None:
    decline(page)
    page.visit("/admin/")
    signed_in(company).post(
        f"/company/tickets/{ticket.pk}/comments", {"comment": "Here is the proof."}
    )
    let_time_pass()
    jobs.send_answers()
    page.reload()
    page.sees(BAR, "There is something new on this ticket.")
    page.do(lambda one: one.locator(f"{BAR} a").click())
    page.sees(".desk-refusal", "Here is the proof.")
    assert page.value("#text") == "Nothing came."
    assert status(ticket) == Status.FOLLOW_UP

    page.press("r", "Control+Enter")
    page.sees(BAR, "leaves in")
    page.press("Control+Enter")
    page.sees(BAR, "Sent to the company.")
    assert status(ticket) == Status.DECLINED


@pytest.mark.slow
def test_answer_still_leaves_when_the_session_has_ended(
    page: Tab, ticket: Ticket, desk: Client
) -> None:
    decline(page)
    page.expects("401 (Unauthorized)")
    desk.logout()
    page.press("Control+Enter")
    let_time_pass()
    jobs.send_answers()
    assert comment_texts(ticket) == ["Nothing came."]


@pytest.mark.slow
def test_another_agent_sees_the_waiting_answer_on_the_ticket(
    page: Tab, chromium: Chromium, ticket: Ticket
) -> None:
    decline(page)
    client = Client()
    client.force_login(build.agent("ben", available=False).user)
    with chromium.tab(page.base) as other:
        other.sign_in(client)
        other.visit(f"{LIST}{ticket.pk}/change/")
        other.sees("#presence", "ada is about to send: Reply · Decline")
        other.misses(BAR)
        assert other.complaints == []


@pytest.mark.slow
def test_with_zero_seconds_there_is_no_bar(page: Tab, ticket: Ticket, settings: Settings) -> None:
    settings.UNDO_SECONDS = 0
    page.press("r")
    page.type("We look into it.")
    page.leave_by("Control+Enter")
    page.sees(".desk-agent", "We look into it.")
    page.misses(BAR)
    assert comment_texts(ticket) == ["We look into it."]


@pytest.mark.slow
def test_a_whole_batch_is_taken_back(page: Tab, ticket: Ticket) -> None:
    page.visit(f"{LIST}?queue=mine")
    page.sees("tr.data-row")
    page.press("x", "x", "d")
    refuse_all(page)
    page.sees(BAR, "Decline: 2 tickets")
    page.leave_by("z")
    page.sees("form.desk-ask")
    assert page.value("[name=reason]") == "Too late."
    assert comment_texts(ticket) == []
    page.leave_by("Control+Enter")
    page.sees(BAR, "Decline: 2 tickets")
    page.press("Control+Enter")
    page.sees(BAR, "Sent to the company.")
    assert comment_texts(ticket) == ["Too late."]


@pytest.mark.slow
def test_the_buttons_work_without_a_script(
    chromium: Chromium, desk: Client, page: Tab, ticket: Ticket
) -> None:
    decline(page)
    with chromium.tab(page.base, java_script_enabled=False) as plain:
        plain.sign_in(desk)
        plain.visit(LIST)
        plain.sees(BAR, "leaves in")
        plain.do(lambda one: one.locator(f"{BAR} [data-undo] button").click())
        plain.sees(".desk-refusal", "Taken back.")
        assert plain.value("#text") == "Nothing came."
        plain.do(lambda one: one.locator("#send-reply").click())
        plain.sees(BAR, "Decline")
        plain.do(lambda one: one.locator(f"{BAR} [data-send] button").click())
        plain.sees("#main", "Sent to the company.")
    assert comment_texts(ticket) == ["Nothing came."]


@pytest.mark.slow
def test_a_long_list_says_how_many_go_before_it_runs_and_all_come_back(
    page: Tab, ticket: Ticket
) -> None:
    for _ in range(248):
        build.ticket(ticket.company, agent=ticket.agent, status=Status.IN_REVIEW)
    page.visit(f"{LIST}?queue=mine")
    page.sees("tr.data-row")
    page.do(lambda one: one.locator("#action-toggle").check())
    page.sees(".question a", "Select the first 200 of the list: at most 200 at a time")
    page.do(lambda one: one.locator(".question a").click())
    page.sees(".all", "The first 200 of the list are selected.")
    page.press("d")
    page.sees("#main", "Decline: 200 tickets")
    refuse_all(page)
    page.sees(BAR, "Decline: 200 tickets")
    assert PendingAnswer.objects.waiting().count() == 200
    assert Ticket.objects.filter(status=Status.DECLINED).count() == 0
    page.leave_by("z")
    page.sees("#main", "Decline: 200 tickets")
    assert PendingAnswer.objects.returned().count() == 200
    page.leave_by("Control+Enter")
    page.sees(BAR, "Decline: 200 tickets")
    page.press("Control+Enter")
    page.sees(BAR, "Decline:")
    page.sees(BAR, "Sent to the company.")
    assert Ticket.objects.filter(status=Status.DECLINED).count() == 200
