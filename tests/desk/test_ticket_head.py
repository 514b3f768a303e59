"""The head of a ticket: tracking number, link to the carrier, and a summary of the company."""

import re
from html import unescape

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companies.models import Company
from shipments.carrier_pages import CARRIER_PAGES, carrier_page, is_page
from tests import builders as build
from tickets.models import Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
NUMBER = "1Z 99/?&#x"
ENCODED = "1Z%2099%2F%3F%26%23x"


def head(desk: Client, ticket: Ticket) -> str:
    page = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    return page.partition('class="desk-head"')[2].partition("desk-head-acts")[0]


def about(company: Company, carrier: str, number: str = NUMBER) -> Ticket:
    shipment = build.shipment(company, carrier_name=carrier, tracking_number=number)
    return build.ticket(company, shipment_id=shipment.pk)


@pytest.mark.parametrize(
    ("carrier", "page"),
    [
        ("UPS", f"https://www.ups.com/track?tracknum={ENCODED}"),
        ("  u P s ", f"https://www.ups.com/track?tracknum={ENCODED}"),
        ("99 Minutos", f"https://tracking.99minutos.com/search/{ENCODED}"),
        ("PAQUETE EXPRESS", f"https://www.paquetexpress.com.mx/rastreo/{ENCODED}"),
        ("j&t express", f"https://www.jtexpress.mx/trajectoryQuery?waybillNo={ENCODED}&flag=1"),
        ("Correos de Mexico", CARRIER_PAGES["Correos de México"]),
        ("Upsala", ""),
        ("Correos Chile", ""),
        ("", ""),
    ],
)
def test_a_carrier_is_known_however_it_is_spelled(carrier: str, page: str) -> None:
    assert carrier_page(carrier, f" {NUMBER} ") == page


def test_every_ready_page_is_https() -> None:
    assert all(is_page(page) for page in CARRIER_PAGES.values())


def test_a_setting_adds_replaces_and_removes_pages(settings: LazySettings) -> None:
    settings.CARRIER_PAGES = [
        ("Tres Guerras", "https://tresguerras.example/{number}"),
        ("dhl", "https://dhl.example/{number}/{number}"),
        ("UPS", ""),
        ("Acme", "http://acme.example/{number}"),
        ("Evil", "https://{number}/"),
    ]
    links = [carrier_page(one, "7") for one in ("TRESGUERRAS", "DHL", "ups", "acme", "evil")]
    assert links == ["https://tresguerras.example/7", "https://dhl.example/7/7", "", "", ""]
    assert carrier_page("FedEx", "7").startswith("https://www.fedex.com/")


def test_the_number_links_to_the_carrier_and_can_be_copied(desk: Client, company: Company) -> None:
    html = head(desk, about(company, "ups"))

    (link,) = re.findall(r'<a href="(https:[^"]+)"([^>]*)>', html)
    assert unescape(link[0]) == f"https://www.ups.com/track?tracknum={ENCODED}"
    assert 'rel="noopener noreferrer"' in link[1]
    assert 'data-copy="1Z 99/?&amp;#x"' in html


def test_a_carrier_without_a_page_has_no_link(desk: Client, company: Company) -> None:
    html = head(desk, about(company, "Burro", "B-1"))

    assert "https:" not in html
    assert "<bdi>Burro</bdi>" in html
    assert 'data-copy="B-1"' in html


def test_a_parcel_of_another_company_is_not_shown(desk: Client, company: Company) -> None:
    shipment = build.shipment(build.company("Globex"), tracking_number="SECRET1")

    assert "SECRET1" not in head(desk, build.ticket(company, shipment_id=shipment.pk))


def test_the_company_s_other_open_tickets_are_counted_and_listed(
    desk: Client, company: Company
) -> None:
    other = build.company("Globex", contact_email="ana@globex.example")
    ticket, *theirs = [build.ticket(other) for _ in range(4)]
    build.ticket(other, status=Status.DECLINED)
    build.ticket(company)

    html = head(desk, ticket)

    link = re.search(r'<a href="([^"]+)"\s*>3 more open</a>', html)
    assert link
    listed = desk.get(unescape(link[1])).context_data["cl"].queryset
    assert {one.pk for one in listed} == {ticket.pk, *(one.pk for one in theirs)}
    assert 'href="mailto:ana@globex.example"' in html


def test_a_company_with_nothing_else_open_has_no_link(desk: Client, company: Company) -> None:
    html = head(desk, build.ticket(company))

    assert "more open" not in html
    assert "mailto:" not in html


def test_they_take_one_query_however_many(desk: Client, company: Company) -> None:
    ticket = build.ticket(company)
    head(desk, ticket)
    with CaptureQueriesContext(connection) as alone:
        head(desk, ticket)
    for _ in range(30):
        build.ticket(company)
    with CaptureQueriesContext(connection) as many:
        head(desk, ticket)

    count_queries = [
        one["sql"] for one in many if "AS __count" in one["sql"] or "COUNT(" in one["sql"]
    ]
    assert len([sql for sql in count_queries if f'"company_id" = {company.pk}' in sql]) == 1
    assert len(many) == len(alone)


def test_a_shipment_s_page_links_too(operator: Client, company: Company) -> None:
    shipment = build.shipment(company, carrier_name="ups", tracking_number="1Z1")

    page = operator.get(f"/admin/shipments/shipment/{shipment.pk}/change/").content.decode()

    assert 'href="https://www.ups.com/track?tracknum=1Z1"' in page
    assert 'data-copy="1Z1"' in page
