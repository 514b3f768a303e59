"""Attacks on the doors of the company's page: each leaves no trace, and opens nothing else."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from time import time
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import erasing, services
from companies.models import AuditEntry, Company
from portal import access, visitors
from portal.models import PortalSession, TicketLink
from tests import builders as build
from tests.portal.conftest import Enter, csrf_of
from tests.portal.test_doors import open_portal
from tickets.models import Comment, Ticket
from tickets.statuses import Status

CANARY = "canary-7731"


@pytest.fixture(autouse=True)
def own_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count from nothing, all in one minute."""
    cache.clear()
    now = time()
    monkeypatch.setattr(visitors, "time", lambda: now)


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, status=Status.INCOMPLETE, comments=CANARY)


@pytest.fixture
def other(db: None) -> Ticket:
    """Return a ticket of another company."""
    return build.ticket(build.company("Birch"), comments=CANARY)


def is_closed(client: Client, path: str) -> bool:
    """Return whether a page is refused, and shows nothing of a ticket."""
    answer = client.get(path)
    return answer.status_code in (403, 404, 410) and CANARY not in answer.content.decode()


def page_of(ticket: Ticket) -> str:
    return f"/c/tickets/{ticket.pk}"


def test_secrets_are_not_guessed(db: None, ticket: Ticket) -> None:
    answers = [Client().get(f"/c/k/{guess:032d}") for guess in range(visitors.WRONG_PER_MINUTE + 5)]
    assert [answer.status_code for answer in answers][-6:] == [404] + [429] * 5
    assert answers[-1]["Retry-After"]


@pytest.mark.parametrize("forwarded", ["", "198.51.100.7"])
def test_a_guesser_is_counted_by_the_real_address(
    db: None, ticket: Ticket, settings: Settings, forwarded: str
) -> None:
    codes = {
        Client().get(f"/c/s/{number}", headers={"X-Forwarded-For": f"{forwarded}{number}"})
        for number in range(visitors.WRONG_PER_MINUTE + 1)
    }
    assert {answer.status_code for answer in codes} == {404, 429}


@pytest.mark.parametrize("secret", ["a" * 5000, "%00", "..%2f..%2fx", "é" * 50, "'--", "%0d%0a"])
def test_odd_secrets_open_nothing(db: None, secret: str) -> None:
    for door in ("k", "s"):
        assert Client().get(f"/c/{door}/{secret}").status_code in (404, 301)


def test_a_link_expires_with_the_silence_of_its_ticket(by_link: Enter, ticket: Ticket) -> None:
    address = access.link_to(ticket)
    client = by_link(ticket)
    long_ago = timezone.now() - timedelta(days=61)
    Ticket.objects.filter(pk=ticket.pk).update(updated_at=long_ago)

    assert Client().get(address).status_code == 410
    assert is_closed(client, page_of(ticket))


def test_a_link_opens_its_ticket_alone(by_link: Enter, ticket: Ticket, other: Ticket) -> None:
    own = build.ticket(ticket.company, comments=CANARY)
    client = by_link(ticket)
    secret = client.cookies[f"{visitors.LINK_COOKIE}{ticket.pk}"].value
    for foreign in (own, other):
        # A forged name of the cookie changes nothing.
        client.cookies[f"{visitors.LINK_COOKIE}{foreign.pk}"] = secret
        assert is_closed(client, page_of(foreign))
    client.cookies[visitors.SESSION_COOKIE] = secret
    assert all(is_closed(client, path) for path in ("/c/tickets", "/c/tickets/new", "/c/webhooks"))
    assert client.get(page_of(ticket)).status_code == 200


def test_a_link_opens_its_ticket_beside_a_session_of_another_company(
    by_session: Enter, company: Company, ticket: Ticket, other: Ticket
) -> None:
    client = by_session(company)
    assert client.get(access.link_to(other)).status_code == 302

    assert other.company.name in client.get(page_of(other)).content.decode()
    assert company.name in client.get(page_of(ticket)).content.decode()
    assert client.get("/c/tickets").status_code == 200


def test_a_session_opens_its_company_and_scope_alone(
    by_session: Enter, company: Company, ticket: Ticket, other: Ticket
) -> None:
    everything, hooks = by_session(company), by_session(company, tickets=False)
    foreign = build.webhook(other.company)

    assert is_closed(everything, page_of(other))
    assert is_closed(everything, f"/c/webhooks/{foreign.pk}")
    assert is_closed(hooks, page_of(ticket))
    assert is_closed(hooks, "/c/tickets")
    assert is_closed(by_session(company, webhooks=False), "/c/webhooks")


def test_the_address_of_a_session_is_not_replayed(api: APIClient, company: Company) -> None:
    url = open_portal(api)
    assert Client().get(url, headers={"Sec-Purpose": "prefetch;prerender"}).status_code == 204
    assert Client().get(url).status_code == 302
    assert Client().get(url).status_code == 410
    late = open_portal(api)
    PortalSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(late).status_code == 410


def test_a_session_is_over_after_eight_hours(by_session: Enter, company: Company) -> None:
    client = by_session(company)
    session = PortalSession.objects.get()
    hours = (session.expires_at - timezone.now()) / timedelta(hours=1)
    assert 7.9 < hours <= 8
    PortalSession.objects.update(expires_at=timezone.now())
    assert is_closed(client, "/c/tickets")


def test_programs_that_follow_links_do_nothing(ticket: Ticket) -> None:
    address = access.link_to(ticket)
    before = [model.objects.count() for model in (AuditEntry, Comment, PortalSession)]
    for _ in range(3):
        scanner = Client()
        assert scanner.head(address).status_code == 302
        assert scanner.get(address, follow=True).status_code == 200
    assert before == [model.objects.count() for model in (AuditEntry, Comment, PortalSession)]
    assert TicketLink.objects.get().used_at is None


Forge = Callable[[Client, Client], dict[str, Any]]


@pytest.mark.parametrize(
    "forge",
    [
        lambda own, victim: {},
        lambda own, victim: {"csrf": csrf_of(own)},
        lambda own, victim: {"csrf": csrf_of(victim), "Origin": "https://evil.example"},
        lambda own, victim: {"csrf": "é"},
    ],
    ids=["no token", "token of another", "foreign origin", "odd token"],
)
def test_a_form_of_another_site_is_refused(
    by_link: Enter, ticket: Ticket, other: Ticket, forge: Forge
) -> None:
    attacker, victim = by_link(other), by_link(ticket)
    fields = forge(attacker, victim)
    headers = {"Origin": fields.pop("Origin")} if "Origin" in fields else {"Origin": "null"}
    body = {**fields, "text": "pwned"}

    answer = victim.post(f"{page_of(ticket)}/answer", body, headers=headers)

    assert answer.status_code == 403
    assert not Comment.objects.exists()
    assert TicketLink.objects.filter(used_at=None).count() == 2


@pytest.mark.parametrize("path", ["/c/k/none", "/c/s/none", "/c/tickets", "/c/nothing"])
def test_no_page_is_framed_indexed_cached_or_leaks_its_address(db: None, path: str) -> None:
    answer = Client().get(path)
    policy = answer["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert answer["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "https://good.example@evil.example/",
        "https://evil.example/\r\nSet-Cookie: a=b",
        "https:\\\\evil.example",
        "https://" + "a" * 2000,
        "",
    ],
)
def test_an_address_to_return_to_is_one_of_the_web(api: APIClient, url: str) -> None:
    answer = api.post("/portal/sessions", {"return_url": url}, format="json")
    assert answer.status_code == 400
    assert b"return_url" in answer.content
    assert not PortalSession.objects.exists()


@pytest.mark.parametrize("name", ["A\r\nSet-Cookie: a=b", "<script>alert(1)</script>", "\u202em"])
def test_names_inject_nothing(by_session: Enter, company: Company, name: str) -> None:
    Company.objects.filter(pk=company.pk).update(name=name)
    company.refresh_from_db()
    answer = by_session(company).get("/c/tickets")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode()
    assert "a" not in answer.cookies


def test_cookies_stay_in_their_browser(
    api: APIClient, company: Company, ticket: Ticket, settings: Settings
) -> None:
    settings.HTTPS = True
    first, second = Client(), Client()
    assert first.get(open_portal(api), secure=True).status_code == 302
    assert second.get(access.link_to(ticket), secure=True).status_code == 302
    for morsel in (*first.cookies.values(), *second.cookies.values()):
        assert (morsel["path"], morsel["samesite"]) == ("/c/", "Lax")
        assert morsel["httponly"]
        assert morsel["secure"]


def revoke(company: Company, ticket: Ticket) -> None:
    services.revoke_tokens_of(company.pk)
    access.end_links(TicketLink.objects.filter(ticket=ticket))


def switch_off(company: Company, ticket: Ticket) -> None:
    services.set_active(company.pk, False)


def erase(company: Company, ticket: Ticket) -> None:
    call_command("erase_company", str(company.pk), "--confirm", company.name, stdout=StringIO())


@pytest.mark.parametrize("end", [revoke, switch_off, erase])
def test_what_is_ended_is_closed_at_once(
    by_session: Enter,
    by_link: Enter,
    company: Company,
    ticket: Ticket,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[Company, Ticket], None],
) -> None:
    monkeypatch.setattr(erasing, "GRACE", timedelta())
    session, link, address = by_session(company), by_link(ticket), access.link_to(ticket)

    end(company, ticket)

    assert is_closed(session, "/c/tickets")
    assert is_closed(session, page_of(ticket))
    assert is_closed(link, page_of(ticket))
    assert is_closed(Client(), address)


def test_one_link_never_slows_another(
    by_link: Enter, ticket: Ticket, other: Ticket, settings: Settings
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "page": 5}
    greedy, quiet = by_link(ticket), by_link(other)
    codes = [greedy.get(page_of(ticket)).status_code for _ in range(8)]
    assert codes == [200] * 5 + [429] * 3
    assert quiet.get(page_of(other)).status_code == 200


def test_a_switched_off_page_opens_nothing(
    by_session: Enter, by_link: Enter, api: APIClient, company: Company, settings: Settings
) -> None:
    ticket = build.ticket(company, comments=CANARY)
    session, link = by_session(company), by_link(ticket)
    settings.COMPANY_PAGE = False

    assert is_closed(session, "/c/tickets")
    assert is_closed(link, page_of(ticket))
    assert access.link_to(ticket) == ""
    assert api.post("/portal/sessions", {}, format="json").status_code == 422


@pytest.mark.parametrize("method", ["put", "delete", "patch", "options"])
def test_other_methods_do_nothing(by_link: Enter, ticket: Ticket, method: str) -> None:
    client = by_link(ticket)
    for path in (page_of(ticket), access.link_to(ticket)):
        assert getattr(client, method)(path).status_code in (403, 405)
