"""A decision is appealed once, and a lead decides on the appeal (decision N14)."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.watch.checks import SETTINGS
from deliveries.models import Event
from tests import builders as build
from tests.tickets.racing import in_order
from tickets import working
from tickets.changes import appeals
from tickets.changes.actors import Actor
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.models import Appeal, Comment, Document, HistoryEntry, Ticket
from tickets.statuses import By, Status

PHOTO = {"field_id": "photo", "type": "file", "value": "https://files.example.com/2"}


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead."""
    return build.agent("eve", group="lead").user


@pytest.fixture
def ticket(company: Company, agent: Any) -> Ticket:
    """Create a ticket that Ada has just declined."""
    ticket = build.ticket(company, type_id=5, shipment_id=4101, status=Status.IN_REVIEW)
    return decline(ticket, agent.user)


def decline(ticket: Ticket, user: User) -> Ticket:
    return working.move(ticket.pk, Status.DECLINED, user=user, reason="No photo.")


def appeal(api: APIClient, ticket: Ticket, comment: str = "Look again.", **body: Any) -> Any:
    return api.post(f"/company/tickets/{ticket.pk}/appeal", {"comment": comment, **body})


def ticket_data(api: APIClient, ticket: Ticket) -> dict[str, Any]:
    (row,) = api.get(f"/company/tickets/{ticket.pk}?getComments=true").json()["data"]
    return row


def decide(ticket: Ticket, decision: str, reason: str = "Why.", *more: str) -> str:
    out = StringIO()
    call_command(
        "decide_appeal", ticket.pk, decision, "--reason", reason, "--lead", "eve", *more, stdout=out
    )
    return out.getvalue()


def refused(answer: Any) -> tuple[int, str, str]:
    assert Appeal.objects.count() <= 1
    return answer.status_code, answer.json()["code"], answer.json()["message"]


def test_appeal_keeps_the_status_and_is_in_the_conversation(api: APIClient, ticket: Ticket) -> None:
    assert ticket_data(api, ticket)["appeal"] is None

    answer = appeal(api, ticket, documents=[PHOTO])

    assert (answer.status_code, answer.json()) == (200, {"data": True})
    assert (answer["X-Ticket-Changed"], answer["X-Ticket-Status"]) == ("1", "3")
    row = ticket_data(api, ticket)
    assert row["ticket_status_id"] == Status.DECLINED
    assert [one["to"] for one in row["history"]] == [3]
    assert row["appeal"] == {
        "state": "pending",
        "comment": "Look again.",
        "created_at": f"{Appeal.objects.get().created_at:%Y-%m-%d %H:%M:%S}",
        "decided_at": None,
        "reason": None,
    }
    assert [one["description"] for one in row["allComments"]] == ["No photo.", "Look again."]
    assert row["allComments"][-1]["type"] == "client"
    assert row["documents"] == [{"key": None, **PHOTO}]
    entry = HistoryEntry.objects.latest("pk")
    assert (entry.kind, entry.by, entry.public) == ("appealed", "company", False)


def test_documents_of_an_appeal_follow_those_of_the_ticket(api: APIClient, ticket: Ticket) -> None:
    Document.objects.create(ticket=ticket, position=0, field_id="first")

    appeal(api, ticket, documents=[PHOTO, {"field_id": "third"}])

    fields = [one["field_id"] for one in ticket_data(api, ticket)["documents"]]
    assert fields == ["first", "photo", "third"]


@pytest.mark.parametrize("document", [{"field_id": "photo"}, {"field_id": "1", "key": "photo"}])
def test_documents_of_an_appeal_fulfil_requested_ones(
    api: APIClient, ticket: Ticket, document: dict[str, str]
) -> None:
    for name in ("photo", "invoice"):
        ticket.requested_documents.create(name=name, created_at=timezone.now())

    appeal(api, ticket, documents=[{**PHOTO, **document}])

    requests = {
        one["name"]: one["fulfilled"] for one in ticket_data(api, ticket)["requested_documents"]
    }
    assert requests == {"photo": True, "invoice": False}


@pytest.mark.parametrize("body", [{}, {"comment": ""}, {"comment": " \u200b\n"}])
def test_appeal_requires_a_comment(api: APIClient, ticket: Ticket, body: dict[str, str]) -> None:
    answer = api.post(f"/company/tickets/{ticket.pk}/appeal", body)

    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == ["comment"]
    assert not Appeal.objects.exists()


@pytest.mark.parametrize("status", [one for one in Status if one != Status.DECLINED])
def test_only_a_declined_ticket_is_appealed(
    api: APIClient, company: Company, status: Status
) -> None:
    answer = appeal(api, build.ticket(company, status=status))

    assert refused(answer) == (
        422,
        "not_declined",
        f"Only a Declined ticket can be appealed. This one is {status.label}.",
    )
    assert not Comment.objects.exists()


def test_second_appeal_of_a_decision_is_refused(api: APIClient, ticket: Ticket) -> None:
    appeal(api, ticket)
    before = Ticket.objects.values().get()

    again = appeal(api, ticket, documents=[PHOTO])

    assert refused(again) == (
        409,
        "already_appealed",
        "This decision has already been appealed.",
    )
    assert Ticket.objects.values().get() == before
    assert not Document.objects.exists()


def test_appeal_after_a_month_is_refused(
    api: APIClient, ticket: Ticket, settings: Settings
) -> None:
    declined_at = timezone.now() - timedelta(days=30, seconds=1)
    Ticket.objects.update(decided_at=declined_at)

    until = declined_at + timedelta(days=30)
    assert refused(appeal(api, ticket)) == (
        422,
        "appeal_too_late",
        f"This decision could be appealed until {until:%Y-%m-%d %H:%M} UTC.",
    )
    settings.APPEAL_DAYS = 31
    assert appeal(api, ticket).status_code == 200


def test_ticket_without_decision_time_is_appealed_once(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=Status.DECLINED)

    assert [appeal(api, ticket).status_code for _ in range(2)] == [200, 409]


def test_ticket_of_another_company_is_not_found(birch_api: APIClient, ticket: Ticket) -> None:
    missing = birch_api.post("/company/tickets/999/appeal", {"comment": "x"})

    answer = appeal(birch_api, ticket)

    assert (answer.status_code, answer.json()) == (404, missing.json())
    assert not Appeal.objects.exists()


@pytest.mark.usefixtures("rows_to_keep")
def test_of_simultaneous_appeals_one_is_taken() -> None:
    company = build.company("Acme")
    ticket = build.ticket(company, status=Status.DECLINED)

    def one() -> None:
        appeals.appeal_decision(company, ticket.pk, Actor(By.COMPANY), "Look again.")

    _, second = in_order(one, one)

    assert isinstance(second, appeals.AppealRefused)
    assert second.code == "already_appealed"
    assert Comment.objects.count() == Appeal.objects.count() == 1


@pytest.mark.usefixtures("eve")
def test_a_lead_accepts_and_the_ticket_is_in_review(api: APIClient, ticket: Ticket) -> None:
    appeal(api, ticket)

    assert decide(ticket, "accept", "The photo was there.") == (
        f"The appeal of ticket {ticket.pk} is accepted. The ticket is In review.\n"
    )

    row = ticket_data(api, ticket)
    assert row["ticket_status_id"] == Status.IN_REVIEW
    assert (row["appeal"]["state"], row["appeal"]["reason"]) == ("accepted", None)
    assert row["appeal"]["decided_at"] is not None
    assert row["history"][-1]["actor"] == "agent"
    assert "The photo was there." not in json.dumps(row)
    entry = HistoryEntry.objects.latest("pk")
    assert (entry.kind, entry.data, entry.by) == ("appeal_decided", {"outcome": "accepted"}, "lead")


def test_reopening_the_ticket_accepts_its_appeal(api: APIClient, ticket: Ticket, eve: User) -> None:
    appeal(api, ticket)

    working.move(ticket.pk, Status.IN_REVIEW, user=eve, reason="Seen by chance.")

    assert ticket_data(api, ticket)["appeal"]["state"] == "accepted"


@pytest.mark.usefixtures("eve")
def test_a_lead_refuses_and_the_company_reads_why(api: APIClient, ticket: Ticket) -> None:
    appeal(api, ticket)

    data = json.loads(decide(ticket, "refuse", "  The label is not ours. ", "--json"))

    assert data == {"ticket_id": ticket.pk, "appeal": "refused", "ticket_status_id": 3}
    row = ticket_data(api, ticket)
    assert row["ticket_status_id"] == Status.DECLINED
    assert row["appeal"]["state"] == "refused"
    assert row["appeal"]["reason"] == "The label is not ours."
    assert row["allComments"][-1]["description"] == "The label is not ours."
    assert row["allComments"][-1]["created_by_name"] == "Support"
    assert refused(appeal(api, ticket)) == (
        422,
        "appeal_refused",
        "The appeal of this decision was refused. It cannot be repeated.",
    )


@pytest.mark.usefixtures("eve")
@pytest.mark.parametrize(("decision", "now"), [("accept", 6), ("refuse", 3)])
def test_company_gets_one_event_for_each_step(
    api: APIClient, company: Company, ticket: Ticket, decision: str, now: int
) -> None:
    build.webhook(company, TICKET_UPDATED.id)

    appeal(api, ticket)
    decide(ticket, decision, "For a reason.")

    appealed, decided = [json.loads(bytes(one.body))["data"] for one in Event.objects.all()]
    assert (appealed["change"], appealed["by"]) == ("appealed", "company")
    assert appealed["comment"]["description"] == "Look again."
    assert (appealed["previous_status_id"], appealed["ticket_status_id"]) == (3, 3)
    assert (decided["change"], decided["by"]) == ("appeal_decided", "agent")
    assert (decided["previous_status_id"], decided["ticket_status_id"]) == (3, now)
    assert ("For a reason." in json.dumps(decided)) == (decision == "refuse")
    assert "eve" not in json.dumps(decided)


def test_each_decision_can_be_appealed(
    api: APIClient, ticket: Ticket, eve: User, agent: Any
) -> None:
    appeal(api, ticket)
    decide(ticket, "accept")
    decline(ticket, agent.user)

    assert ticket_data(api, ticket)["appeal"]["state"] == "accepted"
    assert appeal(api, ticket, "And again.").status_code == 200
    assert ticket_data(api, ticket)["appeal"]["comment"] == "And again."


@pytest.mark.usefixtures("eve")
@pytest.mark.parametrize("decision", ["accept", "refuse"])
def test_a_decision_needs_an_appeal_and_a_reason(
    api: APIClient, ticket: Ticket, decision: str
) -> None:
    with pytest.raises(CommandError, match=f"Ticket {ticket.pk} has no appeal to decide"):
        decide(ticket, decision)
    appeal(api, ticket)
    before = Ticket.objects.values().get()
    with pytest.raises(CommandError, match="Give a reason"):
        decide(ticket, decision, "\u200b")

    assert Ticket.objects.values().get() == before
    assert Appeal.objects.get().state == "pending"


def test_only_a_lead_decides(api: APIClient, ticket: Ticket, agent: Any) -> None:
    appeal(api, ticket)

    for lead, message in (
        ("ada", "ada is not a lead. Only a lead decides appeals."),
        ("zoe", "There is no agent zoe."),
    ):
        with pytest.raises(CommandError) as error:
            call_command("decide_appeal", ticket.pk, "refuse", "--reason", "No.", "--lead", lead)
        assert str(error.value) == message
    assert Appeal.objects.get().state == "pending"


def test_the_interface_s_rules_for_a_declined_ticket_stay(api: APIClient, ticket: Ticket) -> None:
    appeal(api, ticket)

    update = {"ticket_status_id": 5, "comments": "more"}
    ignored = api.put(f"/company/tickets/{ticket.pk}", update)
    blocked = api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": "more"})
    duplicate = api.post("/company/tickets", {"type_id": 5, "shipment_id": 4101})

    assert (ignored.status_code, ignored["X-Ticket-Changed"]) == (200, "0")
    assert blocked.status_code == 422
    assert (duplicate.status_code, duplicate.json()["ticket_id"]) == (409, ticket.pk)


@pytest.mark.parametrize(
    ("days", "expected"), [(0, ["config.E033"]), (1, []), (3651, ["config.E033"])]
)
def test_invalid_appeal_period_prevents_the_start(
    settings: Settings, days: int, expected: list[str]
) -> None:
    settings.APPEAL_DAYS = days

    assert [one.id for one in run_checks(tags=[SETTINGS]) if one.is_serious()] == expected
