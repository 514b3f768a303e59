"""Bulk actions: one failure stops no other ticket, and each is reported."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from companies.models import Company
from deliveries import publishing, redelivery
from deliveries.engine import recording
from deliveries.models import Delivery, State
from desk.people import second_factor
from desk.support import actions
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result
from tests.desk.forms import picked
from tickets import working
from tickets.assignment import automatic, reassigning
from tickets.models import Agent, Ticket
from tickets.statuses import Status
from webhooks.models import Webhook

TICKETS = "/admin/tickets/ticket/"
UNFORESEEN = "An unexpected error. Nothing was changed."


def failing(
    real: Callable[..., Any], is_bad: Callable[[Any], bool], *, place: int = 0
) -> Callable[..., Any]:
    """Wrap `real` so that it raises for bad arguments after its work is done."""

    def act(*args: Any, **kwargs: Any) -> Any:
        result = real(*args, **kwargs)
        if is_bad(args[place]):
            raise ZeroDivisionError
        return result

    return act


def test_moves_the_others_and_names_the_one_that_failed(
    desk: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [build.ticket(company) for _ in range(3)]
    bad = tickets[1].pk
    monkeypatch.setattr(working, "move", failing(working.move, lambda ticket_id: ticket_id == bad))

    answer = desk.post(f"{TICKETS}move/2/", {**picked(*tickets), "code": "other"})

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "2 tickets moved to Accepted." in html
    assert "1 ticket was not moved." in html
    assert UNFORESEEN in html
    assert f'name="ticket" value="{bad}"' in html
    assert Ticket.objects.get(status=Status.PENDING).pk == bad


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


def test_assigns_the_others_and_names_the_one_that_failed(
    lead: Client, company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [build.ticket(company) for _ in range(3)]
    bad = tickets[1].pk
    fails = failing(automatic.assign_to, lambda ticket: ticket.pk == bad)
    monkeypatch.setattr(automatic, "assign_to", fails)

    answer = lead.post(f"{TICKETS}give/", {**picked(*tickets), "to": agent.pk})

    assert "2 tickets assigned. 1 ticket was not assigned." in answer.content.decode()
    assert UNFORESEEN in answer.content.decode()
    assert Ticket.objects.get(agent=None).pk == bad


def test_hands_over_the_others_and_names_the_one_that_failed(
    lead: Client, company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [build.ticket(company, agent=agent) for _ in range(3)]
    bob, bad = build.agent("bob"), tickets[0].pk
    fails = failing(reassigning.reassign, lambda ticket_id: ticket_id == bad)
    monkeypatch.setattr(reassigning, "reassign", fails)

    answer = lead.post(f"/admin/tickets/agent/{agent.pk}/hand-over/", {"to": bob.pk})

    html = answer.content.decode()
    assert f"Ticket {bad} was not reassigned: {UNFORESEEN}" in html
    assert "Submit again" not in html
    assert Ticket.objects.get(agent=agent).pk == bad


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_pauses_and_resumes_the_other_webhooks(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    pausing = verb == "pause"
    webhooks = [build.webhook(company, active=pausing) for _ in range(3)]
    bad = webhooks[1].pk
    real = getattr(actions, f"{verb}_webhook")
    monkeypatch.setattr(actions, f"{verb}_webhook", failing(real, lambda key: key == bad))
    body = {"webhook": [one.pk for one in webhooks], "reason": "Asked."}

    answer = lead.post(f"/admin/webhooks/webhook/{verb}/", body, follow=True)

    html = answer.content.decode()
    assert f"2 webhooks {verb}d." in html
    assert f"Webhook {bad} failed: {UNFORESEEN}" in html
    assert Webhook.objects.get(active=pausing).pk == bad


def test_sends_the_other_deliveries_again(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(3)])
    for _ in range(3):
        recording.record_attempts([result(claim_one(), state=State.GIVEN_UP, status=500)])
    ids = [each.pk for each in Delivery.objects.all()]
    fails = failing(redelivery.redeliver, lambda chosen: chosen == [ids[1]])
    monkeypatch.setattr(redelivery, "redeliver", fails)
    body = {"action": "send_again", "_selected_action": ids}

    html = lead.post("/admin/deliveries/delivery/", body, follow=True).content.decode()

    assert "2 deliveries will be sent again." in html
    assert f"Delivery {ids[1]} failed: {UNFORESEEN}" in html
    assert Delivery.objects.get(state=State.GIVEN_UP).pk == ids[1]


def test_removes_the_second_factor_of_the_others(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = [User.objects.create_user(name) for name in ("ben", "cora", "dan")]
    removed: list[str] = []

    def remove(user: User) -> int:
        if user == users[1]:
            raise ZeroDivisionError
        removed.append(user.username)
        return 1

    monkeypatch.setattr(second_factor, "remove_devices", remove)
    body = {"action": "remove_second_factor", "_selected_action": [one.pk for one in users]}

    html = operator.post("/admin/auth/user/", body, follow=True).content.decode()

    assert sorted(removed) == ["ben", "dan"]
    assert "2 second factors removed." in html
    assert f"cora failed: {UNFORESEEN}" in html
