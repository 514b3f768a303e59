"""Rows for the API bench: a company with shipments, tickets, agents and webhooks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from companies import services
from companies.models import Company
from shipments.event_types.status import TRACKING_SIMPLE
from shipments.models import Shipment
from tickets.changes.actors import Actor
from tickets.models import Agent, Comment, Document, Ticket
from tickets.opening import open_ticket
from tickets.statuses import By
from tools.bench.plain_api.models import PlainTicket
from webhooks import services as webhook_services
from webhooks.event_types import registry

AGENTS, TICKETS, WEBHOOKS = 8, 40, 5
READ = ("tickets_ticket", "shipments_shipment", "tickets_agent", "tickets_loadchange", "auth_user")
LOST = 4
# Event type of ticket news, which a version need not have.
NEWS_OF_TICKETS = "ticket.updated"


class World(NamedTuple):
    company: Company
    token: str
    ticket_id: int
    # Numbers from 1 on are shipments of the company.
    first_shipment: int

    def ticket(self, number: int) -> dict[str, Any]:
        """Build the body of a ticket about a shipment of its own."""
        return {
            "type_id": LOST,
            "shipment_id": self.first_shipment + number,
            "comments": "It has not arrived since Monday, and nobody answers the phone.",
            "data": '{"content":"lamp","value":"12.50"}',
        }

    def opened(self) -> int:
        """Return the number of shipments that have a ticket."""
        last = Ticket.objects.order_by("-shipment_id").values_list("shipment_id", flat=True).first()
        return (last or self.first_shipment) - self.first_shipment


def make_world(*, shipments: int) -> World:
    """Create the company and its rows, with N `shipments` that have no ticket yet."""
    company = Company.objects.create(name="Acme")
    first = TICKETS + 1
    with connection.schema_editor() as editor:
        editor.create_model(PlainTicket)
    make_agents()
    Shipment.objects.bulk_create(
        (
            Shipment(
                id=number,
                company=company,
                tracking_number=f"TRACK{number:07}",
                carrier_name="acme",
                created_at=timezone.now(),
            )
            for number in range(1, first + shipments + 1)
        ),
        batch_size=2000,
    )
    tickets = [read_ticket(company, number) for number in range(1, first)]
    register(company, [TRACKING_SIMPLE.id] * WEBHOOKS)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(READ)}")
    return World(company, services.issue_token(company.pk), tickets[-1].pk, first)


def hear_of_tickets(company: Company) -> bool:
    """Register for news of tickets; return False if there is no such event type."""
    types = [each.id for each in registry if each.name == NEWS_OF_TICKETS]
    register(company, types)
    return bool(types)


def make_agents() -> None:
    users = User.objects.bulk_create(
        User(username=f"agent{number}", is_staff=True) for number in range(AGENTS)
    )
    Agent.objects.bulk_create(Agent(user=user, capacity=1_000_000) for user in users)


def register(company: Company, types: Sequence[int]) -> None:
    for number, type_id in enumerate(types):
        webhook_services.register_webhook(
            company,
            type_id=type_id,
            url=f"https://hooks.example.com/{number}",
            auth_token="delivery-token",  # noqa: S106 - a dummy
        )


def read_ticket(company: Company, number: int) -> Ticket:
    """Create a ticket with two documents and two comments."""
    ticket = open_ticket(company, Actor(By.COMPANY), type_id=LOST, shipment_id=number)
    now = timezone.now()
    Document.objects.bulk_create(
        Document(ticket=ticket, position=place, field_id=f"field{place}", type="input", value="x")
        for place in range(2)
    )
    Comment.objects.bulk_create(
        Comment(ticket=ticket, by=By.COMPANY, text="Any news?", status=1, created_at=now)
        for _ in range(2)
    )
    return ticket
