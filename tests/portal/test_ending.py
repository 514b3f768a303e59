"""Ends of links and sessions: each takes effect with the next request, wherever it comes from."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companies import erasing, services
from companies.models import Company
from core.retention import Sweep
from portal import access, answering
from portal import ticket_contents as contents
from portal.models import PortalSession, TicketLink
from portal.retention import forget_doors
from tests import builders as build
from tests.portal.conftest import Enter, csrf_of
from tickets.models import Comment, Ticket

LIST = "/c/tickets"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    build.ticket(company)
    return build.ticket(company)


@pytest.fixture
def strangers(birch: Company, by_session: Enter, by_link: Enter) -> Callable[[], list[int]]:
    """Return a function that tells how another company's visitors fare."""
    other = build.ticket(birch)
    session, link = by_session(birch), by_link(other)
    return lambda: [
        session.get(LIST).status_code,
        link.get(f"{LIST}/{other.pk}").status_code,
    ]


def switch_off(company: Company) -> None:
    services.set_active(company.pk, active=False)


def erase(company: Company) -> None:
    erasing.erase_all_of(company.pk, sleep=lambda seconds: None)


def revoke_tokens(company: Company) -> None:
    services.revoke_tokens_of(company.pk)


def expire_tokens(company: Company) -> None:
    company.tokens.update(expires_at=timezone.now())


def revoke_doors(company: Company) -> None:
    access.end_doors(company_id=company.pk)


@pytest.mark.parametrize(
    ("end", "link_lives"),
    [
        (switch_off, False),
        (erase, False),
        (revoke_doors, False),
        (revoke_tokens, True),
        (expire_tokens, True),
    ],
)
def test_each_end_is_at_once_and_another_company_does_not_notice(
    company: Company,
    ticket: Ticket,
    by_session: Enter,
    by_link: Enter,
    strangers: Callable[[], list[int]],
    monkeypatch: pytest.MonkeyPatch,
    end: Any,
    link_lives: bool,
) -> None:
    monkeypatch.setattr(erasing, "GRACE", timedelta(0))
    session, link = by_session(company), by_link(ticket)
    page = f"{LIST}/{ticket.pk}"
    assert (session.get(LIST).status_code, link.get(page).status_code) == (200, 200)

    end(company)

    assert (session.get(LIST).status_code, link.get(page).status_code) == (
        403,
        200 if link_lives else 403,
    )
    assert session.post("/c/leave", {"csrf": csrf_of(session)}).status_code == 403
    assert strangers() == [200, 200]


def test_an_address_that_was_not_opened_yet_ends_too(company: Company) -> None:
    def new_address() -> str:
        token = company.tokens.create(prefix="t", digest=str(timezone.now().timestamp()))
        secret, _ = access.issue_session(
            company, token, tickets=True, webhooks=True, ticket_id=None, language="", return_url=""
        )
        return f"/c/s/{secret}"

    for end in (revoke_doors, revoke_tokens, switch_off):
        address = new_address()
        end(company)
        assert Client().get(address).status_code == 410


def test_switched_on_again_old_doors_stay_closed(
    company: Company, ticket: Ticket, by_session: Enter, by_link: Enter
) -> None:
    session, link = by_session(company), by_link(ticket)

    switch_off(company)
    services.set_active(company.pk, active=True)

    assert session.get(LIST).status_code == 403
    assert link.get(f"{LIST}/{ticket.pk}").status_code == 403
    assert by_link(ticket).get(f"{LIST}/{ticket.pk}").status_code == 200
    assert by_session(company).get(LIST).status_code == 200


def test_an_act_under_way_when_the_company_is_switched_off_writes_nothing(
    company: Company, ticket: Ticket
) -> None:
    """Refuse it under the lock: an erasure does not wait for links."""
    seen = contents.read_token(contents.token_of(contents.read_ticket(company, ticket.pk)))
    switch_off(company)

    for act in (
        partial(answering.answer, company, ticket.pk, seen, "Hello", []),
        partial(answering.appeal, company, ticket.pk, "Wrong."),
        partial(answering.rate, company, ticket.pk, 1, "Bad."),
    ):
        with pytest.raises(Ticket.DoesNotExist):
            act()
    assert not Comment.objects.exists()


def test_a_form_of_a_session_counts_as_a_use_of_its_token(
    company: Company, ticket: Ticket, by_session: Enter
) -> None:
    """An erasure waits for requests of tokens that were used lately."""
    session = by_session(company)
    session.get(LIST)
    assert company.tokens.get().last_used_at is None
    session.post("/c/leave", {"csrf": csrf_of(session)})
    assert company.tokens.get().last_used_at is not None


def test_switching_the_page_off_closes_it_and_on_again_opens_it(
    company: Company, ticket: Ticket, by_session: Enter, by_link: Enter, settings: Settings
) -> None:
    session, link = by_session(company), by_link(ticket)
    for on, status in ((False, 404), (True, 200)):
        settings.COMPANY_PAGE = on
        answers = [session.get(LIST), link.get(f"{LIST}/{ticket.pk}")]
        assert [answer.status_code for answer in answers] == [status, status]
        assert ("switched off" in answers[0].content.decode()) == (not on)


def test_a_link_ends_days_after_the_last_change_of_its_ticket(
    company: Company, ticket: Ticket, by_link: Enter, settings: Settings
) -> None:
    settings.LINK_LIFETIME = timedelta(days=3)
    link, page = by_link(ticket), f"{LIST}/{ticket.pk}"
    old = timezone.now() - timedelta(days=3, seconds=5)

    Ticket.objects.filter(pk=ticket.pk).update(updated_at=old)
    assert link.get(page).status_code == 403
    Ticket.objects.filter(pk=ticket.pk).update(updated_at=old + timedelta(minutes=1))
    assert link.get(page).status_code == 200


def test_an_ended_link_says_what_to_do_and_is_known_from_a_guess(
    ticket: Ticket, client: Client
) -> None:
    address = access.link_to(ticket)
    access.end_doors(ticket_id=ticket.pk)

    ended, guessed = client.get(address), client.get(f"{address[:-2]}--")

    assert (ended.status_code, guessed.status_code) == (410, 404)
    assert "Open the link in our latest email" in ended.content.decode()
    assert not ended.cookies
    assert not re.search(rf"\b{ticket.pk}\b", re.sub(r"<[^>]*>", "", ended.content.decode()))


def test_a_new_link_opens_after_the_old_ones_ended(ticket: Ticket, by_link: Enter) -> None:
    old = by_link(ticket)
    assert access.end_doors(ticket_id=ticket.pk) == (1, 0)

    assert by_link(ticket).get(f"{LIST}/{ticket.pk}").status_code == 200
    assert old.get(f"{LIST}/{ticket.pk}").status_code == 403
    assert access.end_doors(ticket_id=ticket.pk) == (1, 0)
    assert access.end_doors(ticket_id=ticket.pk) == (0, 0)


def test_a_session_ends_after_eight_hours(company: Company, by_session: Enter) -> None:
    session = by_session(company)
    left = PortalSession.objects.get().expires_at - timezone.now()
    assert timedelta(hours=7, minutes=59) < left <= timedelta(hours=8)

    PortalSession.objects.update(expires_at=timezone.now())

    assert session.get(LIST).status_code == 403


def test_leaving_ends_that_session_and_no_other(company: Company, by_session: Enter) -> None:
    token = company.tokens.create(prefix="test_a", digest="a")
    here, there = by_session(company), Client()
    secret, _ = access.issue_session(
        company, token, tickets=True, webhooks=True, ticket_id=None, language="", return_url=""
    )
    there.get(f"/c/s/{secret}")

    assert here.post("/c/leave", {"csrf": csrf_of(here)}).status_code == 200
    assert (here.get(LIST).status_code, there.get(LIST).status_code) == (403, 200)


def test_the_desk_switches_a_company_off_with_its_sessions(
    company: Company, by_session: Enter
) -> None:
    session = by_session(company)
    desk = Client()
    desk.force_login(User.objects.create_superuser("root"))
    tokens = {"tokens-TOTAL_FORMS": 0, "tokens-INITIAL_FORMS": 0}
    form = {"name": company.name, **tokens}

    desk.post(f"/admin/companies/company/{company.pk}/change/", form)

    assert not Company.objects.get().active
    assert PortalSession.objects.get().ended_at
    assert session.get(LIST).status_code == 403


def test_doors_that_are_over_are_forgotten_in_time(company: Company, ticket: Ticket) -> None:
    now = timezone.now()
    token = company.tokens.create(prefix="t", digest="t")
    for days in (6, 8):
        PortalSession.objects.create(
            company=company,
            token=token,
            url_digest=str(days),
            created_at=now,
            expires_at=now - timedelta(days=days),
        )
    quiet = build.ticket(company)
    Ticket.objects.filter(pk=quiet.pk).update(updated_at=now - timedelta(days=366))
    for one, days in ((ticket, 400), (quiet, 364), (quiet, 366)):
        created_at = now - timedelta(days=days)
        TicketLink.objects.create(ticket=one, digest=f"{one.pk}-{days}", created_at=created_at)

    sweep = Sweep()
    forget_doors(sweep, now)

    assert sweep.rows == {"page": 2}
    assert PortalSession.objects.get().url_digest == "6"
    digests = {link.digest for link in TicketLink.objects.all()}
    assert digests == {f"{ticket.pk}-400", f"{quiet.pk}-364"}
