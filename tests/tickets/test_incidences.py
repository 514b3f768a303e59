from functools import partial
from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from shipments.models import Shipment
from tests import builders as build
from tests.tickets.racing import in_order, racers
from tickets.changes.actors import Actor
from tickets.models import IncidenceLink, Ticket
from tickets.opening import open_ticket
from tickets.statuses import By, Status

CALLER = Actor(By.COMPANY, "test")


def links() -> set[tuple[int, int]]:
    return set(IncidenceLink.objects.values_list("ticket", "incidence"))


def opened(api: APIClient, **body: Any) -> int:
    answer = api.post("/company/tickets", body)
    assert answer.status_code == 200
    return answer.json()["id"]


def reported(shipment: Shipment, id: int = 501, **fields: Any) -> int:
    """Record an incidence as the platform's feed brings it."""
    build.fact("incidence", incidence_id=id, shipment_id=shipment.pk, **fields)
    return id


@pytest.fixture
def shipment(company: Company) -> Shipment:
    return build.shipment(company)


def test_links_a_new_ticket_to_the_open_incidences_that_match(
    api: APIClient, shipment: Shipment
) -> None:
    matching = build.incidence(shipment, 1, kind="lost")
    whatever = build.incidence(shipment, 2, kind="")
    build.incidence(shipment, 3, kind="damaged")
    build.incidence(shipment, 4, kind="lost", open=False)
    build.incidence(build.shipment(shipment.company, 4102), 5, kind="lost")

    ticket = opened(api, type_id=4, shipment_id=shipment.pk)

    assert links() == {(ticket, matching.pk), (ticket, whatever.pk)}


def test_links_a_new_incidence_to_the_tickets_that_match(
    api: APIClient, shipment: Shipment
) -> None:
    lost = opened(api, type_id=4, shipment_id=shipment.pk)
    damaged = opened(api, type_id=5, shipment_id=shipment.pk)
    opened(api, type_id=4, shipment_id=shipment.pk + 1)

    reported(shipment, 1, incidence_kind="lost")
    assert links() == {(lost, 1)}

    reported(shipment, 2)
    assert links() == {(lost, 1), (lost, 2), (damaged, 2)}


def test_links_any_ticket_that_names_the_shipment_when_the_kind_is_open(
    api: APIClient, shipment: Shipment
) -> None:
    refund = opened(api, type_id=7, credit_id=3, shipment_id=shipment.pk)

    reported(shipment)

    assert links() == {(refund, 501)}


@pytest.mark.parametrize("status", list(Status))
def test_links_a_ticket_in_any_status_so_that_the_order_makes_no_difference(
    company: Company, shipment: Shipment, status: Status
) -> None:
    ticket = build.ticket(company, type_id=4, shipment_id=shipment.pk, status=status)

    reported(shipment, incidence_kind="lost")

    assert links() == {(ticket.pk, 501)}


def test_links_when_a_closed_incidence_is_opened_again(api: APIClient, shipment: Shipment) -> None:
    reported(shipment, incidence_kind="lost", open=False)
    ticket = opened(api, type_id=4, shipment_id=shipment.pk)
    assert links() == set()

    reported(shipment, incidence_kind="lost", open=True)

    assert links() == {(ticket, 501)}


def test_links_a_pair_once(api: APIClient, shipment: Shipment) -> None:
    ticket = opened(api, type_id=4, shipment_id=shipment.pk)

    for description in ("first", "told again"):
        reported(shipment, incidence_kind="lost", description=description)
    reported(shipment, incidence_kind="lost", open=False)
    reported(shipment, incidence_kind="lost", open=True)

    assert links() == {(ticket, 501)}


def test_links_nothing_of_another_company(
    api: APIClient, birch_api: APIClient, shipment: Shipment
) -> None:
    reported(shipment, 1, incidence_kind="lost")
    theirs = opened(birch_api, type_id=4, shipment_id=shipment.pk)
    reported(shipment, 2, incidence_kind="lost")
    assert links() == set()

    mine = opened(api, type_id=4, shipment_id=shipment.pk)
    assert mine != theirs
    assert links() == {(mine, 1), (mine, 2)}


def test_links_nothing_to_a_ticket_without_a_shipment(api: APIClient, shipment: Shipment) -> None:
    reported(shipment)
    opened(api, type_id=2)

    assert links() == set()


@pytest.mark.usefixtures("rows_to_keep")
@pytest.mark.parametrize("ticket_first", [True, False])
def test_the_second_of_ticket_and_incidence_waits_and_links(ticket_first: bool) -> None:
    company = build.company()
    shipment = build.shipment(company)
    opening = partial(open_ticket, company, CALLER, type_id=4, shipment_id=shipment.pk)
    telling = partial(reported, shipment, incidence_kind="lost")

    in_order(*((opening, telling) if ticket_first else (telling, opening)))

    assert links() == {(Ticket.objects.get().pk, 501)}


@pytest.mark.usefixtures("rows_to_keep")
def test_simultaneous_ticket_and_incidence_are_linked() -> None:
    company = build.company()
    with racers(2) as together:
        for id in range(1, 21):
            shipment = build.shipment(company, id)
            opening = partial(open_ticket, company, CALLER, type_id=4, shipment_id=id)
            together.run([opening, partial(reported, shipment, id, incidence_kind="lost")])

    assert {incidence for _, incidence in links()} == set(range(1, 21))
