from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.models import Rating
from tickets.statuses import OPEN, TERMINAL, Status


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_keeps_what_a_company_thinks_of_a_decision(
    api: APIClient, company: Company, status: Status
) -> None:
    ticket = build.ticket(company, status=status)

    answer = api.post(f"/tickets/ratings/{ticket.pk}", {"rating": 4, "comment": "Quick."})

    assert (answer.status_code, answer.json()) == (200, {"data": True, "message": "Successful."})
    (row,) = api.get(f"/company/tickets/{ticket.pk}").json()["data"]
    assert row["rating"] == {"evaluated": 1, "rating": 4, "comment": "Quick."}


@pytest.mark.parametrize("status", sorted(OPEN))
def test_refuses_to_rate_what_is_not_decided(
    api: APIClient, company: Company, status: Status
) -> None:
    ticket = build.ticket(company, status=status)

    assert api.post(f"/tickets/ratings/{ticket.pk}", {"rating": 5}).status_code == 422
    assert not Rating.objects.exists()


def test_rates_once(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=2)
    api.post(f"/tickets/ratings/{ticket.pk}", {"rating": 5})

    assert api.post(f"/tickets/ratings/{ticket.pk}", {"rating": 1}).status_code == 422
    assert Rating.objects.get().rating == 5


@pytest.mark.parametrize("rating", [0, 6, "5", 5.0, True, None, 4.5])
def test_rates_from_one_to_five(api: APIClient, company: Company, rating: Any) -> None:
    ticket = build.ticket(company, status=2)

    answer = api.post(f"/tickets/ratings/{ticket.pk}", {"rating": rating})

    assert [error["field"] for error in answer.json()["errors"]] == ["rating"]
    assert not Rating.objects.exists()


def test_shows_that_nothing_was_rated(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=2)

    (row,) = api.get(f"/company/tickets/{ticket.pk}").json()["data"]

    assert row["rating"] == {"evaluated": 0, "rating": None, "comment": None}
