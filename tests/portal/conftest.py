from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import Settings

from companies.models import Company
from companies.tokens import token_digest
from portal import access
from portal.visitors import LINK_COOKIE, SESSION_COOKIE, csrf_token
from tickets.models import Ticket

Enter = Callable[..., Client]


@pytest.fixture(autouse=True)
def address(settings: Settings) -> None:
    settings.PUBLIC_URL = "http://testserver"


@pytest.fixture
def by_session(db: None) -> Enter:
    """Return a function that opens a company's page by a session, in a new browser."""

    def enter(company: Company, **options: object) -> Client:
        token, _ = company.tokens.get_or_create(
            digest=token_digest(str(company.pk)), defaults={"prefix": "test_page"}
        )
        wanted = {"tickets": True, "webhooks": True, "ticket_id": None, "language": ""}
        secret, _ = access.issue_session(company, token, **{**wanted, "return_url": "", **options})
        client = Client()
        assert client.get(f"/c/s/{secret}").status_code == 302
        return client

    return enter


@pytest.fixture
def by_link(db: None) -> Enter:
    """Return a function that opens a ticket by the link of an email, in a new browser."""

    def enter(ticket: Ticket) -> Client:
        client = Client()
        assert client.get(access.link_to(ticket)).status_code == 302
        return client

    return enter


def csrf_of(client: Client) -> str:
    """Return the token of this browser's forms."""
    secrets = [
        cookie.value
        for name, cookie in client.cookies.items()
        if cookie.value and name.startswith((SESSION_COOKIE, LINK_COOKIE))
    ]
    return csrf_token(secrets[0])
