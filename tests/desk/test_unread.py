"""Forms carry the state that their page showed; newer acts are shown first, then confirmed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tests.desk.forms import picked, token
from tests.desk.words import words
from tickets import updating, working
from tickets.changes import appeals
from tickets.changes.actors import Actor
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.statuses import By, Status

LIST = "/admin/tickets/ticket/"
CALLER = Actor(By.COMPANY, "tok")
# Eight seconds on a fast machine, more on a slow one.
WROTE = re.compile(r"Acme wrote \d+ seconds ago\.")


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


@pytest.fixture
def ben(db: None) -> User:
    return build.agent("ben", available=False).user


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=4, status=Status.IN_REVIEW, comments="It is lost.")


def page(client: Client, ticket: Ticket, **query: Any) -> str:
    return client.get(f"{LIST}{ticket.pk}/change/", query).content.decode()


def write(client: Client, ticket: Ticket, **body: Any) -> HttpResponse:
    return client.post(f"{LIST}{ticket.pk}/write/", body)


def company_writes(ticket: Ticket, text: str = "ESPEREN: <b>la prueba</b>") -> None:
    """Write as the company, dated eight seconds ago, as the page will say."""
    updating.comment(ticket.company, ticket.pk, CALLER, text)
    at = timezone.now() - timedelta(seconds=8)
    Comment.objects.filter(text=text).update(created_at=at)


def tokens(html: str) -> list[str]:
    return re.findall(r'name="seen" value="([^"]*)"', html)


def traces() -> list[object]:
    return [list(model.objects.values()) for model in (Ticket, Comment, HistoryEntry)]


def test_every_form_of_a_page_carries_what_the_page_shows(lead: Client, ticket: Ticket) -> None:
    company_writes(ticket)

    html = page(lead, ticket)

    ours = re.compile(rf"/ticket/(?:{ticket.pk}/(?:write|claim|hand-over)|move/\d+)/\"")
    forms = [one for one in html.split("<form ")[1:] if ours.search(one.split(">")[0])]
    assert len(forms) >= 6
    for form in forms:
        assert tokens(form.split("</form>")[0]) == [token(ticket)]
    # Links to the confirmation pages, for browsers without scripts.
    links = re.findall(r'href="([^"]*/(?:move/\d|give|hand-over)/[^"]*)"', html)
    assert len(links) >= 4
    assert all(f"seen={token(ticket)}" in link for link in links)


def test_a_decision_waits_until_the_company_s_words_are_read(lead: Client, ticket: Ticket) -> None:
    build.macro("Papers", requested="Invoice\nPhoto")
    body = {**picked(ticket), "reason": "Why <so>?", "next": "1"}
    body |= {"requested": ["Photo"], "others": "Letter"}
    company_writes(ticket)

    answer = lead.post(f"{LIST}move/4/", body)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert WROTE.search(words(html))
    assert "ESPEREN: &lt;b&gt;la prueba&lt;/b&gt;" in html
    assert "The company moved it from In review to Follow up." in words(html)
    assert Ticket.objects.get().status == Status.FOLLOW_UP
    # Everything typed and chosen is kept.
    assert "Why &lt;so&gt;?</textarea>" in html
    assert re.findall(r'value="(\w+)"\s+checked', html) == ["Photo"]
    assert "Letter</textarea>" in html
    assert 'name="next" value="1"' in html

    (page_token,) = tokens(html)
    assert lead.post(f"{LIST}move/4/", {**body, "seen": page_token}).status_code == 302
    assert Ticket.objects.get().status == Status.INCOMPLETE


def test_a_reply_comes_back_with_all_its_choices(desk: Client, ticket: Ticket) -> None:
    form = {"text": "Send <it>.", "reply": "1", "to": "4", "requested": ["Photo"], "next": "1"}
    form["seen"] = token(ticket)
    company_writes(ticket)

    answer = write(desk, ticket, **form)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert WROTE.search(words(html))
    assert "Send &lt;it&gt;.</textarea>" in html
    assert '<option value="4" selected>' in html
    assert 'name="requested" value="Photo" checked' in html
    assert 'id="and-next" checked' in html
    assert 'data-aim="note"' not in html
    assert Comment.objects.count() == 1

    assert write(desk, ticket, **{**form, "seen": tokens(html)[0]}).status_code == 302
    assert Comment.objects.get(by="agent").text == "Send <it>.\nPlease send:\n- Photo"


def test_a_note_is_held_back_too_and_stays_a_note(desk: Client, ben: User, ticket: Ticket) -> None:
    form = {"text": "Looks fine.", "note": "1", "seen": token(ticket)}
    working.write(ticket.pk, "It is fraud.", user=ben, public=False)

    html = write(desk, ticket, **form).content.decode()

    assert "ben added a note" in words(html)
    assert 'data-aim="note"' in html
    assert not Comment.objects.filter(actor="ada").exists()
    # Confirming one act does not confirm the next.
    company_writes(ticket)
    again = write(desk, ticket, **{**form, "seen": tokens(html)[0]})
    assert again.status_code == 409
    assert "Acme</bdi> wrote" in again.content.decode()
    assert "ben added" not in again.content.decode()


def test_a_ticket_is_not_taken_unread(desk: Client, ticket: Ticket) -> None:
    page_token = token(ticket)
    company_writes(ticket)

    answer = desk.post(f"{LIST}{ticket.pk}/claim/", {"seen": page_token})

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "Not assigned to you. There is something new on this ticket." in words(html)
    assert WROTE.search(words(html))
    assert Ticket.objects.get().agent is None
    assert desk.post(f"{LIST}{ticket.pk}/claim/", {"seen": tokens(html)[0]}).status_code == 302


def test_an_appeal_is_not_decided_unread_and_the_reason_is_kept(
    lead: Client, ticket: Ticket
) -> None:
    other = build.agent("ann", group="lead", available=False).user
    declining = build.agent("kim", available=False).user
    working.move(ticket.pk, Status.DECLINED, user=declining, reason="No proof.")
    appeals.appeal_decision(ticket.company, ticket.pk, CALLER, "Look again.")
    form = {"decision": "refuse", "reason": "My <long> text.", "seen": token(ticket)}
    working.decide_appeal(ticket.pk, accept=True, user=other, reason="The photo is new.")

    answer = lead.post(f"{LIST}{ticket.pk}/appeal/", form)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "ann moved it from Declined to In review." in html
    assert "The photo is new." in html
    assert "My &lt;long&gt; text." in html


@pytest.mark.parametrize("giving", [False, True])
def test_of_many_only_those_with_something_new_wait_for_one_confirmation(
    lead: Client, company: Company, agent: Agent, giving: bool
) -> None:
    address = f"{LIST}give/" if giving else f"{LIST}move/3/"
    tickets = [build.ticket(company, status=Status.PENDING) for _ in range(4)]
    more = {"to": agent.pk} if giving else {"code": "other"}
    body = {**picked(*tickets), "reason": "No & no.", **more}
    company_writes(tickets[1], "First.")
    working.write(tickets[3].pk, "Second.", user=agent.user, public=False)

    answer = lead.post(address, body)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert ("2 tickets assigned." if giving else "2 tickets moved to Declined.") in html
    assert WROTE.search(words(html))
    assert "ada added a note" in words(html)
    assert set(tokens(html)) == {token(tickets[1]), token(tickets[3])}
    assert "No &amp; no.</textarea>" in html
    changed = Ticket.objects.filter(agent=agent) if giving else Ticket.objects.filter(status=3)
    assert changed.count() == 2

    waiting = {"ticket": [tickets[1].pk, tickets[3].pk], "seen": tokens(html)}
    assert lead.post(address, {**body, **waiting}).status_code == 302
    assert changed.count() == 4


def test_what_came_since_the_list_was_loaded_is_shown_before_anybody_decides(
    desk: Client, company: Company
) -> None:
    tickets = [build.ticket(company, status=Status.PENDING) for _ in range(2)]
    listed = tokens(desk.get(f"{LIST}?queue=open").content.decode())
    assert set(listed) == {token(one) for one in tickets}
    company_writes(tickets[0])
    body = {"_selected_action": [one.pk for one in tickets], "seen": listed}

    html = desk.post(LIST, {**body, "action": "move_to_declined"}).content.decode()

    assert "New since your page was loaded:" in html
    assert len(WROTE.findall(words(html))) == 1
    assert set(tokens(html)) == {token(one) for one in tickets}


def test_a_page_of_earlier_messages_has_not_shown_what_came_since(
    desk: Client, ben: User, ticket: Ticket
) -> None:
    for number in range(51):
        working.write(ticket.pk, f"Word {number}.", user=ben, public=False)
    link = re.search(r'href="\?before=(\d+)&amp;seen=([^"&]*)', page(desk, ticket))
    assert link
    company_writes(ticket)

    html = page(desk, ticket, before=link[1], seen=link[2])

    assert "ESPEREN" not in html
    answer = write(desk, ticket, text="x", reply="1", seen=tokens(html)[0])
    assert answer.status_code == 409
    assert "Acme</bdi> wrote" in answer.content.decode()


@pytest.mark.parametrize("old", [{}, {"seen": ""}, {"seen": "3", "version": "1"}])
def test_a_form_that_does_not_say_what_was_seen_is_refused_and_keeps_its_text(
    lead: Client, ticket: Ticket, old: dict[str, str]
) -> None:
    working.move(ticket.pk, Status.DECLINED, user=build.agent("ann").user, reason="No proof.")
    appeals.appeal_decision(ticket.company, ticket.pk, CALLER, "Look again.")
    before = traces()
    text = {"text": "Kept text.", "reason": "Kept text."}
    one = {"ticket": str(ticket.pk)}

    for address, body in (
        (f"{ticket.pk}/write/", {"reply": "1"}),
        (f"{ticket.pk}/write/", {"note": "1"}),
        (f"{ticket.pk}/appeal/", {"decision": "refuse"}),
        ("move/6/", one),
        ("give/", one),
        (f"{ticket.pk}/hand-over/", {"to": "ann", "note": "Kept text."}),
    ):
        answer = lead.post(f"{LIST}{address}", {**text, **body, **old})

        html = answer.content.decode()
        assert answer.status_code in (400, 409), address
        assert "The page was out of date. Read the ticket as it is now" in html
        assert "Kept text.</textarea>" in html
        assert "Look again." in html
    assert lead.post(f"{LIST}{ticket.pk}/claim/", old).status_code == 409
    assert traces() == before


def test_a_list_knows_what_it_shows_in_as_many_queries_for_many(
    desk: Client, company: Company
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            desk.get(f"{LIST}?queue=open")
        return len(queries)

    build.ticket(company)
    queries()
    few = queries()
    for _ in range(5):
        build.ticket(company)
    assert queries() == few
