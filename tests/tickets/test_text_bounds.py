"""Bounds on how much text a company writes (decision N40)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets import working
from tickets.models import Agent, Appeal, Comment, Rating, TextOfDay, Ticket
from tickets.statuses import Status

MIB = 2**20
TEXT = "é" * 100


@pytest.fixture
def one_mib(settings: Settings) -> None:
    settings.TEXT_MIB_PER_DAY = 1


def spend(company: Company, remaining: int, **changes: Any) -> None:
    values = {"day": timezone.now().date(), "bytes": MIB - remaining, **changes}
    TextOfDay.objects.update_or_create(company=company, defaults=values)


def reply(api: APIClient, ticket: Ticket, text: str = TEXT) -> Any:
    return api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": text})


Write = Callable[[APIClient, Company], Any]


def decided(company: Company, status: Status) -> Ticket:
    return build.ticket(company, status=status, decided_at=timezone.now())


WRITERS: dict[str, tuple[int, Write]] = {
    "comment": (200, lambda api, company: reply(api, build.ticket(company))),
    "opening text": (
        200,
        lambda api, _: api.post("/company/tickets", {"type_id": 2, "comments": TEXT}),
    ),
    "variables": (
        208,
        lambda api, _: api.post("/company/tickets", {"type_id": 2, "data": f'{{"a":"{TEXT}"}}'}),
    ),
    "documents": (
        201,
        lambda api, _: api.post(
            "/company/tickets",
            {"type_id": 19, "documents": [{"field_id": "a", "value": TEXT}]},
        ),
    ),
    "update": (
        200,
        lambda api, company: api.put(
            f"/company/tickets/{build.ticket(company).pk}",
            {"ticket_status_id": 1, "comments": TEXT},
        ),
    ),
    "update of variables": (
        208,
        lambda api, company: api.put(
            f"/company/tickets/{build.ticket(company).pk}",
            {"ticket_status_id": 1, "data": f'{{"a":"{TEXT}"}}'},
        ),
    ),
    "appeal": (
        401,
        lambda api, company: api.post(
            f"/company/tickets/{decided(company, Status.DECLINED).pk}/appeal",
            {"comment": TEXT, "documents": [{"field_id": "a"}]},
        ),
    ),
    "rating": (
        200,
        lambda api, company: api.post(
            f"/tickets/ratings/{decided(company, Status.ACCEPTED).pk}",
            {"rating": 5, "comment": TEXT},
        ),
    ),
}


@pytest.mark.usefixtures("one_mib")
@pytest.mark.parametrize(("size", "write"), WRITERS.values(), ids=WRITERS)
def test_every_writer_counts_what_it_stores_and_stops_at_the_bound(
    api: APIClient,
    birch_api: APIClient,
    company: Company,
    birch: Company,
    size: int,
    write: Write,
) -> None:
    spend(company, size)
    assert write(api, company).status_code == 200
    assert TextOfDay.objects.get(company=company).bytes == MIB

    spend(company, size - 1)
    refused = write(api, company)
    assert (refused.status_code, refused.json()["code"]) == (429, "text_limit")
    assert 0 < int(refused["Retry-After"]) <= 86_400
    # A refused text leaves nothing behind, and does not count.
    assert TextOfDay.objects.get(company=company).bytes == MIB - size + 1
    models = Comment, Rating, Appeal
    assert sum(model.objects.count() for model in models) <= 2
    assert write(birch_api, birch).status_code == 200


@pytest.mark.usefixtures("one_mib")
def test_another_day_begins_anew_and_an_empty_text_costs_nothing(
    api: APIClient, company: Company
) -> None:
    ticket = build.ticket(company)
    spend(company, 0)
    assert reply(api, ticket, "").status_code == 200
    assert reply(api, ticket).status_code == 429

    spend(company, 0, day=timezone.now().date() - timedelta(days=1))
    assert reply(api, ticket).status_code == 200
    assert TextOfDay.objects.get(company=company).bytes == len(TEXT.encode())


def test_a_full_ticket_refuses_its_company_and_not_its_agent(
    api: APIClient, company: Company, agent: Agent, settings: Settings
) -> None:
    settings.COMMENTS_PER_TICKET = 2
    full, other = build.ticket(company), build.ticket(company)
    assert [reply(api, full).status_code for _ in range(3)] == [200, 200, 422]
    assert reply(api, full).json()["code"] == "too_many_comments"
    moved = {"ticket_status_id": 10, "comments": TEXT}
    assert api.put(f"/company/tickets/{full.pk}", moved).status_code == 422
    full.refresh_from_db()
    assert full.status == Status.PENDING
    moved["comments"] = ""
    assert api.put(f"/company/tickets/{full.pk}", moved).status_code == 200
    assert reply(api, other).status_code == 200

    working.write(full.pk, "We look.", user=agent.user, public=True)
    assert full.conversation.count() == 3
