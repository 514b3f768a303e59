"""Macros: who writes them, how they fill the box, and that their acts are one."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from companies.models import Company
from desk.models import Macro
from desk.ticket import macros
from tests import builders as build
from tests.desk.forms import coded, token
from tickets import working
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
MACROS = "/admin/desk/macro/"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=4, status=Status.IN_REVIEW, shipment_id=4101)


def write(desk: Client, ticket: Ticket, text: str, button: str, **more: Any) -> HttpResponse:
    code = coded(int(more["to"])) if str(more.get("to", "")).isdecimal() else {}
    body = {"text": text, button: "1", "seen": token(ticket), **code, **more}
    return desk.post(f"{LIST}{ticket.pk}/write/", body)


def test_fills_what_it_knows_and_leaves_other_braces_alone(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    build.shipment(company, 4101, tracking_number="NW-1")
    text = "{agent}: {company}'s {ticket}, {tracking}. {unknown} {0} {} {company.pk} {{agent}}"
    macro = build.macro(text=text)

    html = desk.get(f"{LIST}{ticket.pk}/change/", {"macro": macro.pk}).content.decode()

    box = html.split('id="text"')[1].split("</textarea>")[0]
    filled = f"ada: Acme&#x27;s {ticket.pk}, NW-1. {{unknown}} {{0}} {{}} {{company.pk}} {{ada}}"
    assert box.endswith(f">{filled}")


def test_does_not_fill_what_it_has_filled_in() -> None:
    assert (
        macros.fill_placeholders("{company}", {"company": "{agent}", "agent": "ada"}) == "{agent}"
    )


def test_tells_no_tracking_number_of_another_company(
    desk: Client, birch: Company, ticket: Ticket
) -> None:
    build.shipment(birch, 4101, tracking_number="SECRET")
    macro = build.macro(text="[{tracking}]")

    html = desk.get(f"{LIST}{ticket.pk}/change/", {"macro": macro.pk}).content.decode()

    assert "[]</textarea>" in html
    assert "SECRET" not in html


def test_is_offered_for_its_types_while_it_is_active(desk: Client, ticket: Ticket) -> None:
    build.macro("for all")
    build.macro("for lost").types.set([4, 5])
    build.macro("for delays").types.set([8])
    build.macro("retired", active=False)

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()

    offered = html.split('id="macro"')[1].split("</select>")[0]
    assert [name in offered for name in ("for all", "for lost", "for delays", "retired")] == [
        True,
        True,
        False,
        False,
    ]


def test_fills_the_move_and_the_documents_without_a_script(desk: Client, ticket: Ticket) -> None:
    macro = build.macro(text="Please.", move_to=4, requested="Invoice\n\n Photo \n")

    html = desk.get(f"{LIST}{ticket.pk}/change/", {"macro": macro.pk}).content.decode()

    assert '<option value="4" selected>' in html
    for name in ("Invoice", "Photo"):
        assert f'name="requested" value="{name}" checked' in html


@pytest.mark.parametrize("macro", ["x", "0", "9" * 40])
def test_unknown_macro_fills_nothing(desk: Client, ticket: Ticket, macro: str) -> None:
    assert desk.get(f"{LIST}{ticket.pk}/change/", {"macro": macro}).status_code == 200


def test_reply_that_is_the_move_s_reason_is_stored_once(desk: Client, ticket: Ticket) -> None:
    answer = write(desk, ticket, "Send it.", "reply", to=4, requested=["Invoice"])

    assert answer.status_code == 302
    comment, line = Comment.objects.get(), HistoryEntry.objects.moves().get()
    assert comment.public
    assert comment.text == line.reason == "Send it.\nPlease send:\n- Invoice"
    assert (line.was, line.now, line.data) == (6, 4, {"requested": ["Invoice"]})


def test_does_not_ask_twice_for_what_its_text_names(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "We need the INVOICE.", "reply", to=4, requested=["Invoice"])

    assert Comment.objects.get().text == "We need the INVOICE."


def test_replies_and_takes_into_review_in_one_go(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, status=Status.PENDING)

    write(desk, ticket, "We look.", "reply", to=6)

    comment = Comment.objects.get()
    assert (comment.public, comment.text, comment.status) == (True, "We look.", 6)
    assert HistoryEntry.objects.moves().get().now == 6


@pytest.mark.parametrize("to", [3, 4])
def test_does_not_tell_the_company_a_note(desk: Client, ticket: Ticket, to: int) -> None:
    answer = write(desk, ticket, "They lie.", "note", to=to)

    assert answer.status_code == 409
    html = answer.content.decode()
    assert "it is required to move" in html
    assert "They lie.</textarea>" in html
    assert Ticket.objects.get().status == Status.IN_REVIEW
    assert not Comment.objects.exists()
    assert not HistoryEntry.objects.exists()


def test_keeps_a_note_beside_an_acceptance_among_agents(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "They pay.", "note", to=2)

    assert not Comment.objects.get().public
    assert HistoryEntry.objects.get().reason == ""
    assert Ticket.objects.get().status == Status.ACCEPTED


def test_impossible_move_sends_no_text(desk: Client, ticket: Ticket) -> None:
    Ticket.objects.filter(pk=ticket.pk).update(status=Status.ACCEPTED)

    assert write(desk, ticket, "No.", "reply", to=3).status_code == 409
    assert not Comment.objects.exists()
    assert not HistoryEntry.objects.exists()


def test_overwrites_no_move_from_a_stale_page(desk: Client, ticket: Ticket) -> None:
    page_token = token(ticket)
    working.write(ticket.pk, "Not yet.", user=build.agent("ben").user, public=False)

    assert write(desk, ticket, "Yes.", "reply", to=2, seen=page_token).status_code == 409
    assert Ticket.objects.get().status == Status.IN_REVIEW
    assert Comment.objects.get().text == "Not yet."


def test_moves_without_a_text_where_none_is_needed(desk: Client, ticket: Ticket) -> None:
    assert write(desk, ticket, "", "reply", to=2).status_code == 302
    assert Ticket.objects.get().status == Status.ACCEPTED
    assert not Comment.objects.exists()


@pytest.mark.parametrize("to", ["99", "x", "-1"])
def test_knows_no_other_status(desk: Client, ticket: Ticket, to: str) -> None:
    assert write(desk, ticket, "x", "reply", to=to).status_code == 400
    assert not Comment.objects.exists()


def test_is_written_by_leads_and_read_by_agents(desk: Client, agent: Agent) -> None:
    macro = build.macro("Ask")
    body = {"name": "Other", "text": "x"}
    assert desk.get(f"{MACROS}{macro.pk}/change/").status_code == 200
    assert desk.post(f"{MACROS}{macro.pk}/change/", body).status_code == 403
    assert desk.post(f"{MACROS}add/", body).status_code == 403
    assert desk.post(f"{MACROS}{macro.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Macro.objects.get().name == "Ask"

    desk.force_login(build.agent("eve", group="lead").user)
    desk.post(f"{MACROS}{macro.pk}/change/", {**body, "move_to": 4, "requested": "Invoice"})
    macro.refresh_from_db()
    assert (macro.name, macro.move_to, macro.requested) == ("Other", 4, "Invoice")


@pytest.mark.parametrize("move_to", [1, 5, 10])
def test_moves_only_where_an_agent_may(operator: Client, move_to: int) -> None:
    answer = operator.post(f"{MACROS}add/", {"name": "x", "text": "x", "move_to": move_to})

    assert answer.status_code == 200
    assert not Macro.objects.exists()
