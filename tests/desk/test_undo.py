"""Answers to a company wait a moment, can be taken back, and leave once or not at all."""

import os
import signal
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.models import Mail
from deliveries.models import Event
from desk import jobs
from desk.ticket import leaving
from tests import builders as build
from tests import files
from tests.desk.forms import picked, token
from tests.tickets.racing import racers
from tickets import working
from tickets.assignment import automatic
from tickets.changes.file_upkeep import remove_orphans
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.models import (
    Agent,
    Comment,
    HistoryEntry,
    Notification,
    PendingAnswer,
    Ticket,
    TicketFile,
    UnfinishedFile,
)
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
PHOTO = files.photo()


@pytest.fixture(autouse=True)
def long_undo_delay(settings: Settings) -> None:
    """Set a delay that no machine exceeds within a test."""
    settings.UNDO_SECONDS = 600


@pytest.fixture
def ticket(company: Company, birch: Company, agent: Agent) -> Ticket:
    """Create Ada's ticket; both companies get emails and have two webhooks, one for tickets."""
    for one in (company, birch):
        build.webhook(one)
        build.webhook(one, TICKET_UPDATED.id)
        Company.objects.filter(pk=one.pk).update(contact_email="a@b.example", ticket_emails=True)
        build.ticket(one, status=Status.IN_REVIEW, comments="The other one.")
    return build.ticket(company, agent=agent, status=Status.IN_REVIEW, comments="It is broken.")


@pytest.fixture
def ben(ticket: Ticket) -> Client:
    client = Client()
    client.force_login(build.agent("ben", available=False).user)
    return client


def write(desk: Client, ticket: Ticket, text: str = "Hello.", **more: Any) -> HttpResponse:
    code = "other" if more.get("to") in ("2", "3") else None
    form = {"reply": "1", "text": text, "seen": token(ticket), "code": code, **more}
    form = {name: value for name, value in form.items() if value is not None}
    return desk.post(f"{LIST}{ticket.pk}/write/", form)


def decline(desk: Client, *tickets: Ticket, **more: Any) -> HttpResponse:
    return desk.post(
        f"{LIST}move/3/", {**picked(*tickets), "reason": "Too late.", "code": "other", **more}
    )


def act(desk: Client, verb: str, **more: Any) -> HttpResponse:
    batch = PendingAnswer.objects.order_by("pk").last().batch
    return desk.post(f"{LIST}pending/{batch}/{verb}/", more, follow=True)


def page(desk: Client, ticket: Ticket) -> str:
    return desk.get(f"{LIST}{ticket.pk}/change/").content.decode()


def let_time_pass() -> None:
    """End the delay and run the worker's job."""
    PendingAnswer.objects.waiting().update(due_at=timezone.now())
    jobs.send_answers()


def traces() -> tuple[int, ...]:
    """Count the rows that a sent answer would leave."""
    models = (Comment, HistoryEntry, Event, Mail, Notification)
    return tuple(model.objects.count() for model in models)


def test_a_decision_its_event_and_its_email_leave_together_when_the_time_is_over(
    desk: Client, ticket: Ticket
) -> None:
    before = traces()

    answer = decline(desk, ticket)

    assert answer.status_code == 302
    html = page(desk, ticket)
    assert "Decline: ticket" in html
    assert "Sent to the company" not in html
    assert "moved to Declined" not in html
    assert (traces(), Ticket.objects.get(pk=ticket.pk).status) == (before, Status.IN_REVIEW)
    jobs.send_answers()
    assert traces() == before

    let_time_pass()

    ticket.refresh_from_db()
    assert ticket.status == Status.DECLINED
    assert Comment.objects.get().text == "Too late."
    assert Event.objects.get().company_id == ticket.company_id
    assert Mail.objects.count() == 1
    assert not PendingAnswer.objects.exists()
    let_time_pass()
    assert Comment.objects.count() == 1


def test_clocks_count_from_when_it_left(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket)
    sent_at = timezone.now()
    let_time_pass()
    ticket.refresh_from_db()
    assert ticket.first_responded_at is not None
    assert ticket.first_responded_at >= sent_at
    assert Comment.objects.get().created_at >= sent_at


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        ({}, True),
        ({"to": "4", "requested": "Invoice"}, True),
        ({"text": "", "to": "2"}, True),
        ({"reply": None, "note": "1"}, False),
        ({"reply": None, "note": "1", "to": "2"}, True),
    ],
)
def test_only_public_answers_are_delayed(
    desk: Client, ticket: Ticket, more: dict[str, Any], waits: bool
) -> None:
    answer = write(desk, ticket, **more)
    assert answer.status_code == 302
    assert PendingAnswer.objects.exists() is waits
    assert Comment.objects.exists() is not waits


def test_an_internal_move_goes_at_once(desk: Client, company: Company, agent: Agent) -> None:
    ticket = build.ticket(company, agent=agent)
    desk.post(f"{LIST}move/6/", {**picked(ticket), "reason": ""})
    assert Ticket.objects.get().status == Status.IN_REVIEW


def test_with_no_seconds_it_is_sent_at_once(
    desk: Client, ticket: Ticket, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 0
    write(desk, ticket, to="3")
    assert Ticket.objects.get(pk=ticket.pk).status == Status.DECLINED
    assert not PendingAnswer.objects.exists()


@pytest.mark.parametrize(
    "more",
    [
        {"text": ""},
        {"text": "", "to": "3"},
        {"seen": "1-0-0"},
        {"text": "Ask @ada.lovelace."},
        {"to": "1"},
        {"code": "no_such", "to": "3"},
    ],
)
def test_what_may_not_be_sent_is_refused_at_once_and_leaves_no_trace(
    desk: Client, ticket: Ticket, more: dict[str, Any]
) -> None:
    build.agent("ada.lovelace")
    before = traces()
    answer = write(desk, ticket, **more)
    assert answer.status_code in (400, 409)
    assert (traces(), PendingAnswer.objects.count()) == (before, 0)


def test_the_same_form_sent_twice_waits_once(desk: Client, ticket: Ticket) -> None:
    key = "0d9f3c1e-7a55-4c30-9d51-0f1a6f0f7a11"
    for _ in range(2):
        assert write(desk, ticket, key=key).status_code == 302
    let_time_pass()
    assert Comment.objects.count() == 1
    assert write(desk, ticket, key=key).status_code == 302
    let_time_pass()
    assert Comment.objects.count() == 1


def test_taking_back_brings_everything_back_into_the_box(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "We need it.", to="4", requested="Invoice", next="1")

    answer = act(desk, "undo")

    html = answer.content.decode()
    assert answer.redirect_chain[-1][0].startswith(f"{LIST}{ticket.pk}/change/")
    assert "Taken back. It was not sent." in html
    assert ">We need it.</textarea>" in html
    assert '<option value="4" selected>' in html
    assert 'name="requested" value="Invoice" checked' in html
    let_time_pass()
    assert not Comment.objects.exists()

    batch = PendingAnswer.objects.get().batch
    write(desk, ticket, "We need it now.", to="4", requested="Invoice", back=batch)
    let_time_pass()
    assert Comment.objects.get().text == "We need it now.\nPlease send:\n- Invoice"
    assert not PendingAnswer.objects.exists()


def test_amounts_and_code_come_back(desk: Client, ticket: Ticket) -> None:
    money = {"claimed": "120.50", "offered": "", "paid": "", "currency": "MXN"}
    decline(desk, ticket, code="other", **money)
    html = act(desk, "undo").content.decode()
    assert 'name="claimed" type="number" step="any" min="0" max="10000000000"' in html
    assert 'value="120.5' in html
    assert ">Too late.</textarea>" in html
    batch = PendingAnswer.objects.get().batch
    write(desk, ticket, "Too late.", to="3", back=batch, code="other", **money)
    let_time_pass()
    ticket.refresh_from_db()
    assert (ticket.status, str(ticket.amounts.claimed)) == (Status.DECLINED, "120.500")


def test_what_was_taken_back_can_be_discarded(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket)
    act(desk, "undo")
    here = f"{LIST}{ticket.pk}/change/"
    answer = act(desk, "discard", ticket=ticket.pk, here=here)
    assert answer.redirect_chain[-1][0] == here
    assert "Taken back" not in answer.content.decode()
    assert not PendingAnswer.objects.exists()


def test_what_was_taken_back_is_sent_once_from_two_tabs(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, "Once.")
    batch = PendingAnswer.objects.get().batch
    act(desk, "undo")
    write(desk, ticket, "Once.", back=batch)
    assert write(desk, ticket, "Once, again.", back=batch).status_code == 409
    let_time_pass()
    answer = write(desk, ticket, "Once, again.", back=batch)
    assert answer.status_code == 409
    assert 'name="back"' not in answer.content.decode()
    let_time_pass()
    assert [one.text for one in Comment.objects.all()] == ["Once."]


def test_sends_at_once_when_asked(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket)
    html = act(desk, "send").content.decode()
    assert "Sent to the company." in html
    assert Comment.objects.count() == 1
    assert not PendingAnswer.objects.exists()


def test_taking_back_too_late_says_so(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket)
    batch = PendingAnswer.objects.get().batch
    let_time_pass()
    html = desk.post(f"{LIST}pending/{batch}/undo/", follow=True).content.decode()
    assert "It had been sent already." in html


def test_answer_is_held_when_the_company_writes_meanwhile(
    desk: Client, ticket: Ticket, api: APIClient, company: Company, agent: Agent
) -> None:
    decline(desk, ticket)
    api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": "Here is the proof."})
    Notification.objects.all().delete()
    before = traces()

    let_time_pass()

    ticket.refresh_from_db()
    assert ticket.status == Status.FOLLOW_UP
    assert traces() == (*before[:4], 1)
    assert Notification.objects.get().kind == "held"
    assert "Held, not sent." in desk.get(f"{LIST}?queue=mine").content.decode()
    assert "was held" in desk.get("/admin/notifications/").content.decode()
    html = page(desk, ticket)
    assert "There is something new on this ticket." in html
    assert ">Too late.</textarea>" in html
    assert "Here is the proof." in html.partition('id="composer"')[0].rpartition("desk-refusal")[2]
    let_time_pass()
    assert traces()[0] == before[0]

    batch = PendingAnswer.objects.get().batch
    assert write(desk, ticket, "Too late.", to="3", back=batch).status_code == 302
    assert "Held" not in page(desk, ticket)
    let_time_pass()
    assert Ticket.objects.get(pk=ticket.pk).status == Status.DECLINED


def test_a_colleague_who_acts_meanwhile_holds_it(
    desk: Client, ben: Client, ticket: Ticket, agent: Agent
) -> None:
    write(desk, ticket)
    assert write(ben, ticket, "Wait!", reply=None, note="1").status_code == 302
    let_time_pass()
    assert [one.text for one in Comment.objects.all()] == ["Wait!"]
    assert "Held, not sent by ada: Reply" in page(ben, ticket)


def test_no_second_answer_while_one_waits(desk: Client, ben: Client, ticket: Ticket) -> None:
    write(desk, ticket)
    mine, theirs = write(desk, ticket, "Another."), write(ben, ticket, "Mine.")
    assert (mine.status_code, theirs.status_code) == (409, 409)
    assert "Your last answer to this ticket waits." in mine.content.decode()
    assert "ada is about to send an answer" in theirs.content.decode()
    let_time_pass()
    assert [one.text for one in Comment.objects.all()] == ["Hello."]


def test_another_agent_sees_it_and_cannot_touch_it(
    desk: Client, ben: Client, ticket: Ticket
) -> None:
    decline(desk, ticket)
    assert "ada is about to send: Decline" in page(ben, ticket)
    present = ben.post(f"{LIST}{ticket.pk}/presence/", {"writing": "0"}).json()["present"]
    assert present[0] == "ada is about to send: Decline"
    assert "desk-waits-one" not in page(ben, ticket)
    for verb in ("undo", "send", "discard"):
        assert act(ben, verb).status_code == 404
    assert act(desk, "no_such").status_code == 404
    batch = PendingAnswer.objects.get().batch
    assert desk.get(f"{LIST}pending/{batch}/undo/").status_code == 405
    assert PendingAnswer.objects.waiting().count() == 1


def test_next_ticket_skips_those_whose_answer_waits(
    desk: Client, company: Company, agent: Agent
) -> None:
    Agent.objects.update(available=False)
    first, second = (build.ticket(company, agent=agent, due_at=timezone.now()) for _ in "ab")
    nobody = build.ticket(company)
    write(desk, nobody)
    write(desk, second)

    answer = write(desk, first, next="1")

    assert "No unassigned" not in desk.get(answer.url, follow=True).content.decode()
    assert not Ticket.objects.filter(pk=nobody.pk, agent=agent).exists()
    listed = f"queue=mine&at={first.pk}"
    act(desk, "undo")
    batch = PendingAnswer.objects.returned().get().batch
    answer = write(desk, first, "Other.", next="1", back=batch, list=listed)
    assert f"/{second.pk}/change/" not in answer.url


def test_who_replies_gets_the_ticket_when_the_reply_leaves(
    desk: Client, company: Company, agent: Agent
) -> None:
    ticket = build.ticket(company)
    write(desk, ticket)
    assert Ticket.objects.get().agent is None
    let_time_pass()
    assert Ticket.objects.get().agent == agent


def test_nobody_is_assigned_a_ticket_whose_answer_waits(
    desk: Client, company: Company, agent: Agent
) -> None:
    Agent.objects.update(available=False)
    ticket = build.ticket(company)
    write(desk, ticket)
    ben = build.agent("ben")
    automatic.assign_waiting()
    assert Ticket.objects.get().agent is None
    let_time_pass()
    assert Ticket.objects.get().agent == agent
    assert ben.tickets.count() == 0


def deactivate(answer: PendingAnswer) -> None:
    answer.user.is_active = False
    answer.user.save()


def take_rights(answer: PendingAnswer) -> None:
    answer.user.groups.clear()


def decide_elsewhere(answer: PendingAnswer) -> None:
    Ticket.objects.filter(pk=answer.ticket_id).update(status=Status.ACCEPTED)


@pytest.mark.parametrize("change", [deactivate, take_rights, decide_elsewhere])
def test_what_may_no_longer_be_sent_is_held_and_keeps_no_other(
    desk: Client, ben: Client, ticket: Ticket, company: Company, change: Any
) -> None:
    decline(desk, ticket)
    other = build.ticket(company, status=Status.IN_REVIEW)
    write(ben, other, "Mine.")
    change(PendingAnswer.objects.get(ticket=ticket))

    for _ in range(2):
        let_time_pass()

    answer = PendingAnswer.objects.get()
    assert (answer.ticket_id, answer.due_at) == (ticket.pk, None)
    assert answer.held
    assert Comment.objects.get().text == "Mine."


def test_an_unforeseen_error_holds_one_and_keeps_no_other(
    desk: Client, ben: Client, ticket: Ticket, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    decline(desk, ticket)
    write(ben, build.ticket(company, status=Status.IN_REVIEW), "Mine.")
    monkeypatch.setattr(working, "move", lambda *_, **__: 1 // 0)
    let_time_pass()
    assert PendingAnswer.objects.get().held == "An unexpected error. Nothing was changed."
    assert Comment.objects.get().text == "Mine."


def test_agents_take_turns(desk: Client, ben: Client, ticket: Ticket, company: Company) -> None:
    many = [build.ticket(company, status=Status.IN_REVIEW) for _ in range(5)]
    decline(desk, *many)
    write(ben, ticket, "Mine.")
    let_time_pass()
    order = list(Comment.objects.order_by("pk").values_list("text", flat=True))
    assert order.index("Mine.") <= 1
    assert len(order) == 6


def photo(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, PHOTO)


def test_files_come_back_and_leave_with_the_answer(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, files=[photo("one.jpg"), photo("two.jpg")])
    assert (TicketFile.objects.count(), UnfinishedFile.objects.count()) == (0, 0)
    html = act(desk, "undo").content.decode()
    row = PendingAnswer.objects.get()
    assert all(f'name="kept" value="{one["stored_as"]}" checked' in html for one in row.files)

    keep, drop = (one["stored_as"] for one in row.files)
    more = [photo("three.jpg")]
    assert write(desk, ticket, back=row.batch, kept=[keep], files=more).status_code == 302
    assert UnfinishedFile.objects.get().name == drop
    let_time_pass()
    assert [one.name for one in TicketFile.objects.order_by("pk")] == ["one.jpg", "three.jpg"]
    assert TicketFile.objects.earliest("pk").stored_as == keep
    UnfinishedFile.objects.update(created_at=timezone.now() - timedelta(days=1))
    remove_orphans()
    assert default_storage.exists(keep)
    assert not default_storage.exists(drop)


def test_files_of_what_is_discarded_go(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, files=[photo("one.jpg")])
    act(desk, "undo")
    act(desk, "discard", ticket=ticket.pk, here="https://elsewhere.example/")
    assert UnfinishedFile.objects.count() == 1


def test_a_file_that_the_storage_has_lost_holds_the_answer(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, files=[photo("one.jpg")])
    default_storage.delete(PendingAnswer.objects.get().files[0]["stored_as"])
    let_time_pass()
    assert "one.jpg: the file is gone." in page(desk, ticket)
    assert not Comment.objects.exists()


@pytest.mark.parametrize(("verb", "status"), [("refuse", 3), ("accept", 6)])
def test_the_decision_of_an_appeal_waits(
    desk: Client, ben: Client, ticket: Ticket, api: APIClient, agent: Agent, verb: str, status: int
) -> None:
    decline(ben, ticket)
    let_time_pass()
    api.post(f"/company/tickets/{ticket.pk}/appeal", {"comment": "Look again."}, format="json")
    lead = Client()
    lead.force_login(build.agent("eve", group="lead", available=False).user)
    form = {"decision": verb, "reason": "Read it.", "seen": token(ticket)}
    assert lead.post(f"{LIST}{ticket.pk}/appeal/", form).status_code == 302
    assert ticket.appeals.get().is_pending

    html = act(lead, "undo").content.decode()
    assert ">Read it.</textarea>" in html
    assert ticket.appeals.get().is_pending
    batch = PendingAnswer.objects.get().batch
    lead.post(f"{LIST}{ticket.pk}/appeal/", {**form, "back": batch})
    let_time_pass()
    assert not ticket.appeals.get().is_pending
    assert Ticket.objects.get(pk=ticket.pk).status == status


def test_a_whole_batch_is_taken_back_at_once(
    desk: Client, company: Company, agent: Agent, api: APIClient
) -> None:
    three = [build.ticket(company, agent=agent, status=Status.IN_REVIEW) for _ in range(3)]
    decline(desk, *three)
    assert "Decline: 3 tickets" in desk.get(LIST).content.decode()

    answer = act(desk, "undo")

    html = answer.content.decode()
    assert "Too late.</textarea>" in html
    assert all(f'name="ticket" value="{one.pk}"' in html for one in three)
    let_time_pass()
    assert not Comment.objects.exists()
    batch = PendingAnswer.objects.first().batch
    assert decline(desk, *three, back=batch).status_code == 302
    api.post(f"/company/tickets/{three[1].pk}/comments", {"comment": "Here is the proof."})
    let_time_pass()
    assert Comment.objects.filter(text="Too late.").count() == 2
    assert PendingAnswer.objects.get().ticket == three[1]
    assert "Held, not sent." in desk.get(LIST).content.decode()


def test_one_of_a_batch_is_discarded_by_itself(
    desk: Client, company: Company, agent: Agent
) -> None:
    two = [build.ticket(company, agent=agent, status=Status.IN_REVIEW) for _ in range(2)]
    decline(desk, *two)
    act(desk, "undo")
    act(desk, "discard", ticket=two[0].pk)
    assert PendingAnswer.objects.get().ticket == two[1]


@pytest.mark.usefixtures("rows_to_keep")
def test_a_sender_that_is_killed_sends_all_or_nothing_and_never_twice(
    desk: Client, ticket: Ticket
) -> None:
    decline(desk, ticket)
    PendingAnswer.objects.update(due_at=timezone.now())
    before = traces()
    row = PendingAnswer.objects.get()

    def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    # Killed after the first, the middle and the last of its statements.
    for place in (
        "tickets.working.code_of_decision",
        "tickets.working.letters.email_move",
        "tickets.changes.news.publish_story",
    ):
        connections.close_all()
        if not (child := os.fork()):
            with patch(place, die):
                leaving.send_answer(row.pk)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert (traces(), PendingAnswer.objects.waiting().count()) == (before, 1)

    jobs.send_answers()
    assert Comment.objects.get().text == "Too late."
    assert not PendingAnswer.objects.exists()


@pytest.mark.usefixtures("rows_to_keep")
def test_of_two_who_send_at_once_one_sends(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket)
    PendingAnswer.objects.update(due_at=timezone.now())
    row = PendingAnswer.objects.get()
    with racers(4) as together:
        together.run([lambda: leaving.send_answer(row.pk)] * 4)
    assert Comment.objects.count() == 1


@pytest.mark.usefixtures("rows_to_keep")
def test_of_two_who_answer_at_once_one_waits(desk: Client, ben: Client, ticket: Ticket) -> None:
    with racers(2) as together:
        answers = together.run([lambda: write(desk, ticket), lambda: write(ben, ticket, "Mine.")])
    assert sorted(one.status_code for one in answers) == [302, 409]
    assert PendingAnswer.objects.waiting().count() == 1


def test_an_answer_to_an_erased_company_goes_nowhere(
    desk: Client, ticket: Ticket, company: Company
) -> None:
    decline(desk, ticket)
    Company.objects.filter(pk=company.pk).update(erased_at=timezone.now())
    before = traces()
    let_time_pass()
    assert (traces(), PendingAnswer.objects.count()) == (before, 0)


def test_the_bar_is_on_every_page_and_for_those_who_answer(
    desk: Client, ticket: Ticket, operator: Client
) -> None:
    write(desk, ticket)
    for address in ("/admin/", LIST, "/admin/notifications/", "/admin/preferences/"):
        html = desk.get(address).content.decode()
        assert f"Reply: ticket {ticket.pk}" in html, address
        assert 'role="status"' in html
        assert "Reply: ticket" not in operator.get(address).content.decode()
    assert Client().get("/admin/login/").status_code == 200
