"""Doors of the company's page: links of emails, sessions of the platform (decision N31)."""

import json
from types import SimpleNamespace

import pytest
from django.test import Client
from rest_framework.test import APIClient

from companies.models import AuditEntry, Company
from config.door.refusals import write_error
from portal.models import PortalSession, TicketLink
from tests import builders as build
from tests.portal.conftest import Enter


def open_portal(api: APIClient, **body: object) -> str:
    answer = api.post("/portal/sessions", body, format="json")
    assert answer.status_code == 200, answer.content
    url: str = json.loads(answer.content)["data"]["url"]
    return url


def test_a_session_opens_once(api: APIClient, company: Company) -> None:
    url = open_portal(api)

    first, other = Client(), Client()
    assert first.head(url).status_code == 405
    assert first.get(url)["Location"] == "/c/tickets"
    # The same browser goes on, another does not.
    assert first.get(url)["Location"] == "/c/tickets"
    assert other.get(url).status_code == 410
    assert AuditEntry.objects.filter(act="portal_open", company_id=company.pk).count() == 1


def test_opening_a_link_writes_nothing(by_link: Enter, company: Company) -> None:
    ticket = build.ticket(company)
    by_link(ticket)

    link = TicketLink.objects.get()
    assert (link.used_at, link.ended_at) == (None, None)
    assert not AuditEntry.objects.exists()
    assert not PortalSession.objects.exists()


@pytest.mark.parametrize(
    ("status", "language", "heading"),
    [
        (408, "es-MX,es;q=0.9", "No se envió nada"),
        (503, "es", "Algo falló de nuestro lado"),
        (503, "fr", "Something went wrong on our side"),
    ],
)
def test_what_never_reaches_the_page_is_refused_in_its_words(
    db: None, status: int, language: str, heading: str
) -> None:
    sent = bytearray()
    headers = (("ACCEPT-LANGUAGE", language),)
    request = SimpleNamespace(path="/c/tickets/1/answer", headers=headers)

    write_error(SimpleNamespace(sendall=sent.extend), status, "Reason", "Too slow.", request)

    head, _, content = bytes(sent).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} Reason\r\n".encode())
    assert b"Content-Type: text/html; charset=utf-8" in head
    assert f"Content-Length: {len(content)}".encode() in head
    assert f"<h1>{heading}</h1>" in content.decode()
