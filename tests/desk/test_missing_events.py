"""Finding a missing event by the request that should have caused it."""

import pytest
from django.db import connection
from django.test import Client

from companies.models import Company
from core.watch import request_ids
from deliveries import publishing
from deliveries.models import Delivery, Event
from desk.support import lookup
from tests import builders as build

FIND = "/admin/tickets/ticket/events/"
OWN = "order-7"


def find_by_request(client: Client, **query: str) -> tuple[set[str], str]:
    """Return the ids of the deliveries on the page, and the page."""
    html = client.get(FIND, query).content.decode()
    return {str(one.pk) for one in Delivery.objects.all() if str(one.pk) in html}, html


@pytest.fixture
def caused(company: Company, birch: Company) -> list[str]:
    """Publish events of one request for two companies, and one of another; return the first two."""
    for each in (company, birch):
        build.webhook(each, auth_token="delivery-token-nobody-sees")
    with request_ids.request_scope(OWN):
        publishing.publish([build.news(company, 1), build.news(birch, 2)])
    deliveries = [str(one.pk) for one in Delivery.objects.order_by("webhook__company_id")]
    with request_ids.request_scope("order-8"):
        publishing.publish([build.news(company, 3)])
    return deliveries


def test_finds_what_a_request_has_caused(
    desk: Client, caused: list[str], company: Company, birch: Company
) -> None:
    assert find_by_request(desk, request_id=OWN)[0] == set(caused)
    assert find_by_request(desk, request_id=OWN, company=str(birch.pk))[0] == {caused[1]}
    assert find_by_request(desk, request_id=OWN, type_id="5")[0] == set()
    assert "delivery-token" not in find_by_request(desk, request_id=OWN)[1]


def test_a_delivery_is_found_for_its_own_company(
    desk: Client, caused: list[str], company: Company, birch: Company
) -> None:
    assert "TRACK2" in find_by_request(desk, delivery_id=caused[1])[1]
    assert find_by_request(desk, delivery_id=caused[1], company=str(birch.pk))[0] == {caused[1]}

    html = find_by_request(desk, delivery_id=caused[1], company=str(company.pk))[1]
    assert "TRACK2" not in html
    assert f"There is no delivery {caused[1]}" in html


def test_of_two_parcels_of_one_number_the_newer_company_s_is_shown(
    desk: Client, company: Company, birch: Company
) -> None:
    for each, type_id in ((company, 5), (birch, 3)):
        build.webhook(each, type_id)
        publishing.publish([build.news(each, tracking_number="Z1", type=type_id)])
    newer = str(Delivery.objects.get(webhook__company=birch).pk)

    assert find_by_request(desk, tracking_number="Z1")[0] == {newer}
    assert "No event of Z1 is stored" in find_by_request(desk, tracking_number="Z1", type_id="5")[1]


def test_says_where_a_request_has_caused_nothing(desk: Client, caused: list[str]) -> None:
    deliveries, html = find_by_request(desk, request_id="order-9")

    assert deliveries == set()
    assert "No event that request" in html
    assert "order-9" in html


def test_long_result_is_truncated(
    desk: Client, caused: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "MOST_EVENTS", 1)

    deliveries, html = find_by_request(desk, request_id=OWN)

    assert len(deliveries) == 1
    assert "Only some are shown." in html


def test_a_delivery_leads_to_what_its_request_has_caused(
    admin_client: Client, caused: list[str]
) -> None:
    page = admin_client.get(f"/admin/deliveries/delivery/{caused[0]}/change/")

    assert f"{FIND}?request_id={OWN}" in page.content.decode()


def test_an_index_finds_the_events_of_a_request(caused: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = Event.objects.filter(request_id=OWN)[:10].explain()

    assert "Index Cond: ((request_id)::text = 'order-7'::text)" in plan
    assert "Seq Scan" not in plan
