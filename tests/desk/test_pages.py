"""The desk's pages: their contents, their permissions and their cost."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from companies.models import Company
from tests import builders as build
from tickets.models import Agent, Comment, Document, HistoryEntry, IncidenceLink, Ticket

LIST = "/admin/tickets/ticket/"
EVIL = '<script>alert("x")</script>'


def test_shows_a_ticket_with_all_that_belongs_to_it(desk: Client, company: Company) -> None:
    shipment = build.shipment(company, tracking_number="TRACK-1")
    ticket = build.ticket(company, type_id=4, shipment_id=shipment.pk, data='{"a": 1}')
    now = timezone.now()
    Comment.objects.create(
        ticket=ticket, by="agent", public=False, text="only us", status=1, created_at=now
    )
    HistoryEntry.objects.create(
        ticket=ticket, by="system", now=1, reason="assigned to ada", public=False, created_at=now
    )
    IncidenceLink.objects.create(
        ticket=ticket, incidence=build.incidence(shipment, 501, kind="lost"), created_at=now
    )

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()

    for text in (
        "TRACK-1",
        "only us",
        "assigned to ada",
        "501: lost",
        "><bdi>a</bdi></dt><dd><bdi>1</bdi></dd>",
    ):
        assert text in html
    assert 'name="_save"' not in html
    assert 'name="status"' not in html


def test_does_not_show_the_shipment_of_another_company(
    desk: Client, company: Company, birch: Company
) -> None:
    build.shipment(birch, 4101, tracking_number="SECRET")
    ticket = build.ticket(company, shipment_id=4101)

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()

    assert "4101: unknown shipment" in html
    assert "SECRET" not in html


LINKED = ["https://files.example.com/id?a=1&b=2", "https://files.example.com/\"onclick='x'"]
NOT_LINKED = [
    "http://files.example.com",
    "https://169.254.169.254/latest/",
    "https://intranet/",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<b>",
    "//evil.example/x",
    EVIL,
]


def test_links_documents_only_to_the_public_web(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, type_id=2)
    for position, value in enumerate([*LINKED, *NOT_LINKED]):
        Document.objects.create(
            ticket=ticket, position=position, field_id="a", type="input", value=value
        )

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()

    links = re.findall(r'<a [^>]*rel="noopener noreferrer nofollow"[^>]*>', html)
    assert [unescape(link.partition('href="')[2].partition('"')[0]) for link in links] == LINKED
    assert 'href="javascript' not in html.lower()
    assert EVIL not in html
    assert "\"onclick='" not in html


def test_escapes_whatever_companies_wrote(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, type_id=10, comments=EVIL, data=EVIL, warehouse_package_id=EVIL)
    now = timezone.now()
    Comment.objects.create(ticket=ticket, by="company", text=EVIL, status=1, created_at=now)

    for address in (LIST, f"{LIST}{ticket.pk}/change/", f"{LIST}move/3/?ticket={ticket.pk}"):
        answer = desk.get(address)
        assert answer.status_code == 200
        assert EVIL not in answer.content.decode()
    page = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    assert page.count(escape(EVIL)) >= 4


def test_has_no_way_to_add_change_or_delete_a_ticket(operator: Client, company: Company) -> None:
    ticket = build.ticket(company)

    assert operator.get(f"{LIST}add/").status_code == 403
    assert operator.get(f"{LIST}{ticket.pk}/delete/").status_code == 403
    assert operator.post(f"{LIST}{ticket.pk}/change/", {"status": 2}).status_code == 403
    assert "delete_selected" not in operator.get(LIST).content.decode()
    assert Ticket.objects.get().status == 1


@pytest.mark.parametrize("address", ["99999999999999999999", "x", "0"])
def test_survives_the_address_of_no_ticket(desk: Client, address: str) -> None:
    assert desk.get(f"{LIST}{address}/change/").status_code == 302
    assert desk.post(f"{LIST}{address}/write/", {"text": "x"}).status_code == 302


NUMBER = "9" * 5000


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"{LIST}?company={NUMBER}", 200),
        (f"{LIST}?storm={NUMBER}", 200),
        (f"{LIST}?agent={NUMBER}", 200),
        (f"{LIST}?o={NUMBER}", 200),
        (f"{LIST}?q=%23{NUMBER}", 200),
        (f"{LIST}{{ticket}}/change/?before={NUMBER}", 200),
        (f"/admin/reports/?company={NUMBER}&agent={NUMBER}&type={NUMBER}", 400),
        (f"/admin/webhooks/webhook/pause/?webhook={NUMBER}", 404),
    ],
)
def test_number_of_thousands_of_digits_finds_nothing(
    admin_client: Client, company: Company, address: str, status: int
) -> None:
    ticket = build.ticket(company)

    assert admin_client.get(address.format(ticket=ticket.pk)).status_code == status


@pytest.mark.parametrize(
    ("page", "field", "status"),
    [("tickets/ticket/views/", "view", 404), ("notifications/read/", "ticket", 403)],
)
def test_posted_number_of_thousands_of_digits_finds_nothing(
    admin_client: Client, page: str, field: str, status: int
) -> None:
    assert admin_client.post(f"/admin/{page}", {field: NUMBER}).status_code == status


PAGES = ["ticket/", "ticket/{ticket}/change/", "tickettype/", "tickettype/4/change/", "agent/"]
PAGES += ["agent/{agent}/change/", "ticket/move/3/?ticket={ticket}"]


@pytest.mark.parametrize("page", PAGES)
def test_shows_no_page_to_staff_without_the_permission(
    client: Client, company: Company, agent: Agent, page: str
) -> None:
    ticket = build.ticket(company)
    client.force_login(User.objects.create_user("clerk", is_staff=True))

    answer = client.get("/admin/tickets/" + page.format(ticket=ticket.pk, agent=agent.pk))

    assert answer.status_code == 403


@pytest.mark.parametrize("page", PAGES)
def test_shows_every_page_to_an_operator(
    operator: Client, company: Company, agent: Agent, page: str
) -> None:
    ticket = build.ticket(company)

    answer = operator.get("/admin/tickets/" + page.format(ticket=ticket.pk, agent=agent.pk))

    assert answer.status_code == 200


def test_shows_a_reported_incidence_on_the_ticket(desk: Client, company: Company) -> None:
    shipment = build.shipment(company)
    ticket = build.ticket(company, type_id=4, shipment_id=shipment.pk)
    build.fact("incidence", incidence_id=9, shipment_id=shipment.pk, description="wet")

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    for text in ("<strong><bdi>9: any incidence</bdi></strong>", "wet", "><bdi>open</bdi></span>"):
        assert text in html
