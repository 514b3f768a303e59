"""Rows for tests: valid by default, one change per test."""

from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db.models import QuerySet
from django.utils import timezone

from companies.models import Company
from deliveries.publishing import News, encode
from desk.models import Macro
from shipments.event_types.status import TRACKING_SIMPLE
from shipments.feed import parsing, recording
from shipments.models import Incidence, Shipment
from tickets import roles
from tickets.models import Agent, Ticket, TicketFile
from tickets.statuses import Status
from webhooks.event_types import registry
from webhooks.models import Webhook


def company(name: str = "Acme", **changes: Any) -> Company:
    return Company.objects.create(name=name, **changes)


def webhook(company: Company, type_id: int = TRACKING_SIMPLE.id, **changes: Any) -> Webhook:
    event_type = registry.get(type_id)
    signed = event_type is not None and event_type.signed
    values = {"url": "https://hooks.example.com/in", "secret": "5e" * 32 if signed else None}
    return Webhook.objects.create(company=company, type_id=type_id, **{**values, **changes})


def news(company: Company, shipment_id: int | None = 1, **changes: Any) -> News:
    values = {
        "company_id": company.pk,
        "type": TRACKING_SIMPLE.id,
        "shipment_id": shipment_id,
        "tracking_number": f"TRACK{shipment_id}",
        "body": encode({"type": "tracking.simple", "data": {"shipment_id": shipment_id}}),
        "ticket_id": None,
    }
    return News(**{**values, **changes})


def agent(
    username: str = "ada", *, skills: Iterable[int] = (), group: str = "agent", **changes: Any
) -> Agent:
    """Create an agent who takes every type of ticket unless the arguments say otherwise."""
    user = get_user_model().objects.create_user(username, password="secret", is_staff=True)
    user.groups.add(role(group))
    row = Agent.objects.create(user=user, **changes)
    row.skills.set(skills)
    return row


def role(name: str) -> Group:
    """Return the group with the service's permissions, which are looked up once a process."""
    group, created = Group.objects.get_or_create(name=name)
    if created:
        group.permissions.set(permission_ids(name))
    return group


@cache
def permission_ids(role: str) -> list[int]:
    return list(roles.permissions(roles.GROUPS[role]).values_list("pk", flat=True))


def ticket(company: Company, *, type_id: int = 3, **changes: Any) -> Ticket:
    now = timezone.now()
    values = {"status": Status.PENDING, "created_at": now, "updated_at": now}
    return Ticket.objects.create(company=company, type_id=type_id, **{**values, **changes})


def file(company: Company, **changes: Any) -> TicketFile:
    """Create a file whose content is not in the storage."""
    values = {
        "name": "box.png",
        "media_type": "image/png",
        "size": 67,
        "sha256": "5e" * 32,
        "stored_as": uuid4().hex,
        "created_at": timezone.now(),
    }
    return TicketFile.objects.create(company=company, **{**values, **changes})


def shipment(company: Company, id: int = 4101, **changes: Any) -> Shipment:
    values = {
        "tracking_number": f"TEST{id:07}",
        "carrier_name": "acme",
        "created_at": timezone.now(),
    }
    return Shipment.objects.create(company=company, id=id, **{**values, **changes})


def incidence(shipment: Shipment, id: int = 501, **changes: Any) -> Incidence:
    return Incidence.objects.create(
        shipment=shipment, id=id, **{"created_at": timezone.now(), **changes}
    )


def fact(kind: str, **fields: Any) -> None:
    """Feed one line through the platform's feed."""
    outcome = recording.record_facts([parsing.parse({"kind": kind, **fields})])
    assert outcome.bad == []


def macro(name: str = "Ask", **changes: Any) -> Macro:
    return Macro.objects.create(name=name, **{"text": "Hello {company}.", **changes})


def permissions(*codenames: str) -> QuerySet[Permission]:
    return Permission.objects.filter(content_type__app_label="tickets", codename__in=codenames)
