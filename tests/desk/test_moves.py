"""Moves, replies and notes at the desk: POST only, with a reason, refused when stale."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from companies.models import Company
from tests import builders as build
from tests.desk.forms import coded, picked, token
from tickets import working
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=4, status=Status.IN_REVIEW)


def page(ticket: Ticket) -> str:
    return f"{LIST}{ticket.pk}/change/"


def move(desk: Client, *tickets: Ticket, to: int, reason: str = "", **more: Any) -> HttpResponse:
    form = {**picked(*tickets), **coded(to), "reason": reason}
    return desk.post(f"{LIST}move/{to}/", {**form, **more})


def nothing_happened(before: list[dict[str, Any]]) -> bool:
    return (
        list(Ticket.objects.order_by("pk").values()) == before
        and not Comment.objects.exists()
        and not HistoryEntry.objects.exists()
    )


def test_offers_the_moves_that_are_open_to_the_agent(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    html = desk.get(page(ticket)).content.decode()
    assert [verb for verb in ("Accept<", "Decline<", "Request information<") if verb in html] == [
        "Accept<",
        "Decline<",
        "Request information<",
    ]
    assert "Review<" not in html

    decided = build.ticket(company, status=Status.ACCEPTED)
    assert "move/" not in desk.get(page(decided)).content.decode()


def test_asks_why_before_it_moves(desk: Client, ticket: Ticket) -> None:
    before = list(Ticket.objects.values())

    answer = desk.get(f"{LIST}move/3/", {"ticket": ticket.pk})

    html = answer.content.decode()
    assert answer.status_code == 200
    assert f'name="seen" value="{token(ticket)}"' in html
    assert "The company will read it." in html
    assert nothing_happened(before)


@pytest.mark.parametrize("to", [Status.ACCEPTED, Status.DECLINED, Status.INCOMPLETE])
def test_moves_a_ticket_and_goes_back_to_it(desk: Client, ticket: Ticket, to: Status) -> None:
    answer = move(desk, ticket, to=to, reason="We saw the scans.")

    assert (answer.status_code, answer["Location"]) == (302, page(ticket))
    ticket.refresh_from_db()
    assert ticket.status == to
    line = HistoryEntry.objects.get()
    assert (line.by, line.actor, line.was, line.now) == ("agent", "ada", 6, to)
    assert Comment.objects.get().text == "We saw the scans."


def test_refuses_a_stale_page_and_keeps_what_was_typed(desk: Client, ticket: Ticket) -> None:
    page_token = token(ticket)
    working.move(ticket.pk, Status.INCOMPLETE, user=build.agent("ben").user, reason="Which box?")
    before = list(Ticket.objects.values())

    answer = move(desk, ticket, to=3, reason="A <long> story.", seen=page_token)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "ben moved it from In review to Incomplete." in html
    assert "ben replied " in html
    assert "A &lt;long&gt; story." in html
    assert f'name="seen" value="{token(ticket)}"' in html
    assert list(Ticket.objects.values()) == before

    assert move(desk, ticket, to=3, reason="A <long> story.").status_code == 302
    assert Ticket.objects.get().status == Status.DECLINED


@pytest.mark.parametrize("to", [3, 4])
def test_asks_again_when_the_reason_is_missing(desk: Client, ticket: Ticket, to: int) -> None:
    before = list(Ticket.objects.values())

    answer = move(desk, ticket, to=to, reason=" ")

    assert answer.status_code == 409
    assert "it is required to move" in answer.content.decode()
    assert nothing_happened(before)


def test_does_not_let_an_agent_reopen_but_a_lead(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, status=Status.DECLINED)
    before = list(Ticket.objects.values())
    assert move(desk, ticket, to=6, reason="new proof").status_code == 409
    assert nothing_happened(before)

    desk.force_login(build.agent("eve", group="lead").user)
    assert "Review<" in desk.get(page(ticket)).content.decode()
    assert move(desk, ticket, to=6, reason="new proof").status_code == 302
    assert Ticket.objects.get().status == Status.IN_REVIEW


@pytest.mark.parametrize("to", [1, 5, 10, 99])
def test_knows_four_moves(desk: Client, ticket: Ticket, to: int) -> None:
    before = list(Ticket.objects.values())

    assert move(desk, ticket, to=to, reason="why").status_code == 404
    assert nothing_happened(before)


@pytest.mark.parametrize("text", ["", "x", ":", "9" * 5000])
def test_unknown_selection_is_answered_with_404(desk: Client, text: str) -> None:
    assert desk.post(f"{LIST}move/2/", {"ticket": text}).status_code == 404


def test_goes_back_to_the_list_when_nothing_was_selected(desk: Client, ticket: Ticket) -> None:
    assert desk.post(f"{LIST}move/2/", {"reason": "why", "code": "other"})["Location"] == LIST


def test_asks_once_for_many_and_tells_of_each(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    other = build.ticket(company, status=Status.PENDING)
    decided = build.ticket(company, status=Status.ACCEPTED)
    selected = {"_selected_action": [ticket.pk, other.pk, decided.pk]}

    html = desk.post(LIST, {"action": "move_to_declined", **selected}).content.decode()
    assert html.count('name="ticket"') == 3
    assert not HistoryEntry.objects.exists()

    answer = move(desk, ticket, other, decided, to=3, reason="No proof.")

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "2 tickets moved to Declined." in html
    assert "A ticket cannot move from Accepted to Declined." in html
    assert html.count('name="ticket"') == 1
    assert dict(Ticket.objects.values_list("pk", "status")) == {
        ticket.pk: Status.DECLINED,
        other.pk: Status.DECLINED,
        decided.pk: Status.ACCEPTED,
    }


@pytest.mark.parametrize(("button", "public"), [("reply", True), ("note", False)])
def test_writes_to_the_company_or_to_agents(
    desk: Client, ticket: Ticket, button: str, public: bool
) -> None:
    answer = desk.post(
        f"{LIST}{ticket.pk}/write/", {"text": " Hello. ", button: "x", "seen": token(ticket)}
    )

    assert (answer.status_code, answer["Location"]) == (302, page(ticket))
    comment = Comment.objects.get()
    assert (comment.text, comment.public, comment.by) == ("Hello.", public, "agent")
    assert (comment.actor, comment.status) == ("ada", Status.IN_REVIEW)


def test_takes_a_text_without_a_button_for_a_note(desk: Client, ticket: Ticket) -> None:
    desk.post(f"{LIST}{ticket.pk}/write/", {"text": "hm", "seen": token(ticket)})

    assert not Comment.objects.get().public


@pytest.mark.parametrize("text", ["", "  ", "x" * 20_001, "a\x00b"])
def test_shows_a_text_again_that_it_cannot_take(desk: Client, ticket: Ticket, text: str) -> None:
    answer = desk.post(
        f"{LIST}{ticket.pk}/write/", {"text": text, "reply": "x", "seen": token(ticket)}
    )

    assert answer.status_code == 400
    assert 'class="errorlist' in answer.content.decode()
    assert text.strip("\x00 ")[:100] in answer.content.decode()
    assert not Comment.objects.exists()


def test_writes_nothing_by_a_link(desk: Client, ticket: Ticket) -> None:
    assert desk.get(f"{LIST}{ticket.pk}/write/", {"text": "x"}).status_code == 405
    assert desk.get(f"{LIST}move/2/", {"ticket": ticket.pk, "reason": "x"}).status_code == 200
    assert Ticket.objects.get().status == Status.IN_REVIEW
    assert not Comment.objects.exists()


def test_asks_for_the_csrf_token(agent: Agent, ticket: Ticket) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(agent.user)
    before = list(Ticket.objects.values())

    for address, body in (
        (f"{LIST}move/2/", {"ticket": str(ticket.pk)}),
        (f"{LIST}{ticket.pk}/write/", {"text": "x", "reply": "x"}),
        (LIST, {"action": "move_to_accepted", "_selected_action": [ticket.pk]}),
    ):
        assert strict.post(address, body).status_code == 403
    assert nothing_happened(before)


@pytest.mark.parametrize("permission", [None, "view_ticket"])
def test_keeps_out_who_may_not_work_on_tickets(
    client: Client, ticket: Ticket, permission: str | None
) -> None:
    clerk = User.objects.create_user("clerk", is_staff=True)
    if permission:
        clerk.user_permissions.set(build.permissions(permission))
    client.force_login(clerk)
    before = list(Ticket.objects.values())

    for method, address, body in (
        ("get", f"{LIST}move/2/", {"ticket": ticket.pk}),
        ("post", f"{LIST}move/2/", {"ticket": str(ticket.pk)}),
        ("post", f"{LIST}{ticket.pk}/write/", {"text": "x", "reply": "x"}),
        ("post", page(ticket), {"status": 2}),
    ):
        assert getattr(client, method)(address, body).status_code == 403
    selected = {"action": "move_to_accepted", "_selected_action": [ticket.pk]}
    refused = client.post(LIST, selected)
    # Users who may only look get the list again, which offers them no such action.
    assert refused.status_code == (200 if permission else 403)
    assert "why?" not in refused.content.decode()
    assert nothing_happened(before)


def test_sends_strangers_to_the_login(client: Client, ticket: Ticket) -> None:
    for address in (f"{LIST}move/2/", f"{LIST}{ticket.pk}/write/", page(ticket)):
        assert client.post(address)["Location"].startswith("/admin/login/")
