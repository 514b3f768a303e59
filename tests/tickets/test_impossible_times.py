"""Impossible times in rows from before they were refused break nothing (decision N28)."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from shipments.models import Shipment, TrackingUpdate
from tests import builders as build
from tests.desk.forms import token
from tests.desk.test_claim_file import unpacked
from tickets import jobs
from tickets.models import Agent, FilingRule, Ticket
from tickets.statuses import Status

END = datetime(9999, 12, 31, 23, 30, tzinfo=UTC)
BEGINNING = datetime(1, 1, 1, 5, tzinfo=UTC)


@pytest.fixture(params=[END, BEGINNING])
def shipment(request: pytest.FixtureRequest, company: Company) -> Shipment:
    FilingRule.objects.create(type_id=4, days=30, counts_from_delivery=True)
    at = request.param
    shipment = build.shipment(company, shipped_at=at, delivered_at=at, status="Delivered")
    TrackingUpdate.objects.create(
        shipment=shipment, digest=b"1", status="Delivered", occurred_at=at
    )
    return shipment


def test_a_ticket_is_opened_moved_and_answered(
    api: APIClient, shipment: Shipment, agent: Agent, client: Client
) -> None:
    answer = api.post("/company/tickets", {"type_id": 4, "shipment_id": shipment.pk})
    assert answer.status_code == 200
    ticket = Ticket.objects.get(pk=answer.json()["id"])
    assert ticket.filing_due_at is None

    call_command("move_ticket", ticket.pk, Status.INCOMPLETE, agent="ada", reason="An invoice?")
    url = f"/company/tickets/{ticket.pk}"
    assert api.put(url, {"ticket_status_id": 5, "comments": "Here it is."}).status_code == 200
    client.force_login(agent.user)
    page = f"/admin/tickets/ticket/{ticket.pk}/"
    body = {"text": "Thank you.", "reply": "", "seen": token(ticket)}
    replied = client.post(f"{page}write/", body, follow=True)

    assert replied.status_code == 200
    assert "Thank you." in replied.content.decode()
    ticket.refresh_from_db()
    assert (ticket.status, ticket.filing_due_at) == (Status.FOLLOW_UP, None)


def test_a_filing_rule_that_comes_later_stops_no_ticket(
    api: APIClient, shipment: Shipment, agent: Agent, client: Client
) -> None:
    FilingRule.objects.all().delete()
    answer = api.post("/company/tickets", {"type_id": 4, "shipment_id": shipment.pk})
    ticket = Ticket.objects.get(pk=answer.json()["id"])
    FilingRule.objects.create(type_id=4, days=30, counts_from_delivery=True)

    call_command("move_ticket", ticket.pk, Status.INCOMPLETE, agent="ada", reason="An invoice?")
    url = f"/company/tickets/{ticket.pk}"
    assert api.put(url, {"ticket_status_id": 5, "comments": "Here it is."}).status_code == 200
    client.force_login(agent.user)
    body = {"text": "Thank you.", "reply": "", "seen": token(ticket)}
    replied = client.post(f"/admin/tickets/ticket/{ticket.pk}/write/", body, follow=True)

    assert "Thank you." in replied.content.decode()
    ticket.refresh_from_db()
    assert (ticket.status, ticket.filing_due_at) == (Status.FOLLOW_UP, None)


@pytest.mark.parametrize("zone", ["Europe/Madrid", "America/Mexico_City"])
def test_pages_show_them_in_every_zone(
    api: APIClient, shipment: Shipment, agent: Agent, client: Client, zone: str
) -> None:
    """Show dates at the ends of time, which a zone east or west of UTC moves beyond."""
    answer = api.post("/company/tickets", {"type_id": 4, "shipment_id": shipment.pk})
    ticket = answer.json()["id"]
    Ticket.objects.update(created_at=shipment.delivered_at, due_at=shipment.delivered_at)
    Agent.objects.update(time_zone=zone)
    agent.user.is_superuser = True
    agent.user.save()
    client.force_login(agent.user)
    pages = [
        f"tickets/ticket/{ticket}/change/",
        "tickets/ticket/",
        "tickets/ticket/export/",
        f"shipments/shipment/{shipment.pk}/change/",
        "shipments/shipment/",
        f"companies/company/{shipment.company_id}/change/",
        "",
    ]

    for page in pages:
        response = client.get(f"/admin/{page}")
        assert response.status_code == 200, page
        assert b"".join(response) if response.streaming else response.content
    assert unpacked(client.post(f"/admin/tickets/ticket/{ticket}/evidence/"))


def test_tickets_are_recalculated(company: Company, shipment: Shipment) -> None:
    tickets = [build.ticket(company, type_id=4, shipment_id=shipment.pk) for _ in range(2)]
    tickets.append(build.ticket(company))

    assert jobs.recalculate_stale() == 3
    assert jobs.set_late_claim_deadlines() == 0
    assert not Ticket.objects.filter(due_at=None).exists()


@pytest.mark.parametrize("days", [3_000_000, 2**31 - 1])
def test_days_that_lead_beyond_all_time_set_no_deadline(company: Company, days: int) -> None:
    FilingRule.objects.create(type_id=4, days=days)
    shipped_at = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=1)
    build.shipment(company, shipped_at=shipped_at)
    build.ticket(company, type_id=4, shipment_id=4101)

    assert jobs.recalculate_stale() == 1
    assert Ticket.objects.get().filing_due_at is None
