from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from companies.models import Company
from shipments.models import Incidence, Shipment
from tests.shipments.feeding import Fed, incidence, shipment, surcharge, tracking

Feed = Callable[..., Fed]


@pytest.fixture
def admin_with_shipments(admin_client: Client, company: Company, feed: Feed) -> Client:
    feed(
        shipment(5, company.pk),
        shipment(55, company.pk),
        tracking(5, "Lost", location="León"),
        surcharge(1, 5, reason="Scale"),
        incidence(8, 5, description="Not seen"),
    )
    return admin_client


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("5", {5}),
        ("TEST0000055", {55}),
        ("TEST00000", set()),
        ("nobody", set()),
        ("9" * 30, set()),
        ("", {5, 55}),
    ],
)
def test_finds_a_shipment_by_its_id_or_whole_number(
    admin_with_shipments: Client, query: str, expected: set[int]
) -> None:
    page = admin_with_shipments.get("/admin/shipments/shipment/", {"q": query})

    assert page.status_code == 200
    assert {each.pk for each in page.context["cl"].result_list} == expected


def test_shows_a_shipment_with_all_that_happened_to_it(admin_with_shipments: Client) -> None:
    page = admin_with_shipments.get("/admin/shipments/shipment/5/change/")

    assert page.status_code == 200
    for word in ("TEST0000005", "León", "Scale", "Not seen"):
        assert word in page.content.decode()
    assert 'name="_save"' not in page.content.decode()


def test_changes_nothing_by_hand(admin_with_shipments: Client) -> None:
    answers = [
        admin_with_shipments.post("/admin/shipments/shipment/5/change/", {"status": "Delivered"}),
        admin_with_shipments.post("/admin/shipments/shipment/5/delete/", {"post": "yes"}),
        admin_with_shipments.post("/admin/shipments/shipment/add/", {"id": 6}),
        admin_with_shipments.post("/admin/shipments/incidence/8/change/", {"open": ""}),
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert Shipment.objects.get(pk=5).status == "Lost"
    assert Shipment.objects.count() == 2
    assert Incidence.objects.get().open


@pytest.mark.parametrize(("query", "expected"), [("8", {8}), ("5", {8}), ("x", set())])
def test_finds_an_incidence_by_its_id_or_its_shipments(
    admin_with_shipments: Client, query: str, expected: set[int]
) -> None:
    page = admin_with_shipments.get("/admin/shipments/incidence/", {"q": query})

    assert {each.pk for each in page.context["cl"].result_list} == expected
    assert admin_with_shipments.get("/admin/shipments/incidence/8/change/").status_code == 200


def test_lists_take_a_fixed_number_of_queries_and_count_only_so_far(
    admin_with_shipments: Client,
    company: Company,
    feed: Feed,
    django_assert_max_num_queries: Callable,
) -> None:
    feed(*[shipment(each, company.pk) for each in range(100, 1300)])

    with django_assert_max_num_queries(9):
        page = admin_with_shipments.get("/admin/shipments/shipment/")

    assert page.context["cl"].result_count == 1000
    assert User.objects.count() == 1
