from functools import partial

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.conftest import signed_in
from tests.tickets.racing import racers
from tickets.models import HistoryEntry, Ticket
from tickets.statuses import Status

MESSAGE = "A ticket has already been created for this shipment."
LOST = {"type_id": 4, "shipment_id": 4101}


@pytest.mark.parametrize("status", [1, 3, 5, 6])
def test_refuses_a_second_ticket_and_names_the_first(
    api: APIClient, company: Company, status: int
) -> None:
    first = build.ticket(company, **LOST, status=status)

    answer = api.post("/company/tickets", LOST)

    assert answer.status_code == 409
    assert answer.json() == {
        "statusCode": 409,
        "error": "Conflict",
        "message": MESSAGE,
        "code": "duplicate_ticket",
        "ticket_id": first.pk,
    }
    assert Ticket.objects.count() == 1
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("status", [2, 4, 10])
def test_lets_a_second_ticket_pass_beside_one_that_does_not_block(
    api: APIClient, company: Company, status: int
) -> None:
    build.ticket(company, **LOST, status=status)

    assert api.post("/company/tickets", LOST).status_code == 200


def test_duplicate_has_the_same_company_shipment_and_type(
    api: APIClient, company: Company, birch: Company
) -> None:
    build.ticket(birch, **LOST)
    build.ticket(company, **{**LOST, "type_id": 5})
    build.ticket(company, **{**LOST, "shipment_id": 4102})

    assert api.post("/company/tickets", LOST).status_code == 200


def test_tickets_without_a_shipment_are_no_duplicates(api: APIClient) -> None:
    answers = [api.post("/company/tickets", {"type_id": 7, "credit_id": 5}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]


def test_every_type_with_a_shipment_is_checked(api: APIClient) -> None:
    body = {"type_id": 7, "credit_id": 5, "shipment_id": 4101}

    assert [api.post("/company/tickets", body).status_code for _ in range(2)] == [200, 409]


def test_lets_an_incomplete_ticket_come_back_beside_a_second_one(
    api: APIClient, company: Company
) -> None:
    first = build.ticket(company, **LOST, status=Status.INCOMPLETE)
    second = api.post("/company/tickets", LOST).json()["id"]

    api.put(f"/company/tickets/{first.pk}", {"ticket_status_id": 5})

    statuses = dict(Ticket.objects.values_list("pk", "status"))
    assert statuses == {first.pk: Status.FOLLOW_UP, second: Status.PENDING}


def test_refusal_is_not_stored_for_an_idempotency_key(api: APIClient, company: Company) -> None:
    first = build.ticket(company, **LOST)
    key = {"Idempotency-Key": "k"}
    assert api.post("/company/tickets", LOST, headers=key).status_code == 409
    Ticket.objects.filter(pk=first.pk).update(status=Status.ACCEPTED)

    assert api.post("/company/tickets", LOST, headers=key).status_code == 200


@pytest.mark.usefixtures("rows_to_keep")
def test_opens_one_of_sixteen_equal_tickets_that_arrive_together() -> None:
    company = build.company()
    clients = [signed_in(company) for _ in range(16)]

    with racers(16) as together:
        for shipment_id in range(1, 31):
            body = {"type_id": 4, "shipment_id": shipment_id}
            answers = together.run(
                [partial(client.post, "/company/tickets", body) for client in clients]
            )

            codes = [answer.status_code for answer in answers]
            assert sorted(codes) == [200] + [409] * 15
            (opened,) = Ticket.objects.filter(shipment_id=shipment_id)
            ids = {answer.json()["ticket_id"] for answer in answers if answer.status_code == 409}
            assert ids == {opened.pk}
