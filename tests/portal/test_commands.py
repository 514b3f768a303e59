"""The commands `links` and `revoke_links`, and the check of `doctor`."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from companies.models import AuditEntry, Company
from portal import access
from portal.models import PortalSession, TicketLink
from tests import builders as build
from tests.core.test_doctor import OK, WARN, examined
from tests.portal.conftest import Enter, csrf_of
from tickets.models import Ticket


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def listed(*options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("links", "--json", *options).splitlines()]


@pytest.fixture
def tickets(company: Company, birch: Company, by_session: Enter) -> list[Ticket]:
    """Create two tickets of Acme and one of Birch, each with two links; each has a session."""
    tickets = [build.ticket(company), build.ticket(company), build.ticket(birch)]
    for ticket in tickets:
        access.link_to(ticket)
        access.link_to(ticket)
    by_session(company, ticket_id=tickets[0].pk)
    by_session(birch)
    return tickets


def test_lists_links_and_sessions(tickets: list[Ticket], company: Company) -> None:
    rows = listed()

    assert [row["kind"] for row in rows] == ["link"] * 6 + ["session"] * 2
    assert [row["ticket_id"] for row in rows[:6]] == [ticket.pk for ticket in tickets for _ in "ab"]
    assert {row["company_id"] for row in listed("--company", str(company.pk))} == {company.pk}
    assert len(listed("--company", str(company.pk))) == 5
    assert [row["id"] for row in listed("--ticket", str(tickets[1].pk))] == [
        link.pk for link in tickets[1].links.order_by("pk")
    ]
    first, session = rows[0], rows[6]
    link = tickets[0].links.earliest("pk")
    assert first["created_at"] == link.created_at.isoformat()
    ends_at = tickets[0].updated_at + timedelta(days=60)
    assert (first["used_at"], first["ended_at"]) == (None, None)
    assert (first["ends_at"], first["live"]) == (ends_at.isoformat(), True)
    assert (session["ticket_id"], rows[7]["ticket_id"]) == (tickets[0].pk, None)
    used_at = PortalSession.objects.earliest("pk").expires_at - timedelta(hours=8)
    assert session["used_at"] == used_at.isoformat()


def test_a_line_is_for_people(tickets: list[Ticket]) -> None:
    TicketLink.objects.filter(ticket=tickets[0]).update(used_at=timezone.now())
    access.end_doors(ticket_id=tickets[0].pk)

    lines = run("links", "--all").splitlines()

    today = f"{timezone.now():%Y-%m-%d}"
    assert f"company {tickets[0].company_id}  ticket {tickets[0].pk}  made {today}" in lines[0]
    assert (f"used {today}" in lines[0], f"ended {today}" in lines[0]) == (True, True)
    assert ("never used" in lines[2], "until " in lines[2]) == (True, True)
    assert "tickets and webhooks" in lines[-1]


def test_shows_what_opens_nothing_only_on_request(tickets: list[Ticket], company: Company) -> None:
    Ticket.objects.filter(pk=tickets[1].pk).update(updated_at=timezone.now() - timedelta(days=61))
    access.end_doors(ticket_id=tickets[0].pk)
    company.tokens.update(revoked_at=timezone.now())

    assert [(row["kind"], row["company_id"]) for row in listed()] == [
        ("link", tickets[2].company_id),
        ("link", tickets[2].company_id),
        ("session", tickets[2].company_id),
    ]
    every = listed("--all")
    assert [row["live"] for row in every] == [False] * 4 + [True] * 2 + [False, True]
    assert [bool(row["ended_at"]) for row in every] == [True] * 2 + [False] * 6


def test_its_queries_do_not_grow(tickets: list[Ticket], django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        run("links", "--all")


def test_ends_the_links_to_a_ticket(tickets: list[Ticket], by_link: Enter) -> None:
    ticket, other = tickets[:2]
    inside, beside = by_link(ticket), by_link(other)

    assert run("revoke_links", "--ticket", str(ticket.pk), "--dry-run") == (
        "would end 3 links and 0 sessions\n"
    )
    assert not AuditEntry.objects.filter(act="revoke_links").exists()
    assert inside.get(f"/c/tickets/{ticket.pk}").status_code == 200
    assert run("revoke_links", "--ticket", str(ticket.pk)) == "ended 3 links and 0 sessions\n"

    assert inside.get(f"/c/tickets/{ticket.pk}").status_code == 403
    assert beside.get(f"/c/tickets/{other.pk}").status_code == 200
    entry = AuditEntry.objects.get(act="revoke_links")
    assert (entry.about, entry.company_id) == (f"ticket {ticket.pk}", ticket.company_id)
    assert (entry.via, entry.outcome) == ("command", "ended 3 links and 0 sessions")
    assert run("revoke_links", "--ticket", str(ticket.pk)) == "ended 0 links and 0 sessions\n"


def test_ends_everything_of_a_company(tickets: list[Ticket], company: Company) -> None:
    told = json.loads(run("revoke_links", "--company", str(company.pk), "--json"))

    assert told == {"links": 4, "sessions": 1}
    assert AuditEntry.objects.get(act="revoke_links").company_id == company.pk
    assert {row["company_id"] for row in listed()} == {tickets[2].company_id}
    assert len(listed()) == 3


@pytest.mark.parametrize("option", ["--ticket", "--company"])
def test_a_number_that_nobody_has_is_an_error(db: None, option: str) -> None:
    with pytest.raises(CommandError, match=r"There is no (ticket|company) 9999\."):
        run("revoke_links", option, "9999")
    with pytest.raises(CommandError):
        run("revoke_links")


def test_coming_in_and_acting_are_audited(
    company: Company, by_session: Enter, by_link: Enter
) -> None:
    ticket = build.ticket(company)
    session, link = by_session(company), by_link(ticket)
    link.get(f"/c/tickets/{ticket.pk}")
    for _ in range(2):
        link.post(f"/c/tickets/{ticket.pk}", {"csrf": csrf_of(link)})
    session.get("/c/tickets")

    entries = AuditEntry.objects.filter(act="portal_open").order_by("pk")

    assert [(each.about.split()[0], each.details) for each in entries] == [
        ("session", {"token": "test_page"}),
        ("link", {}),
    ]
    assert {(each.actor, each.via, each.company_id) for each in entries} == {
        ("company", "api", company.pk)
    }


def test_a_refused_form_is_no_act(company: Company, by_link: Enter) -> None:
    ticket = build.ticket(company)
    link, page = by_link(ticket), f"/c/tickets/{ticket.pk}"
    form = {"csrf": csrf_of(link)}

    for field in ("answer", "rating", "nothing"):
        assert link.post(f"{page}/{field}", form).status_code in (422, 404)
    assert TicketLink.objects.get().used_at is None
    assert not AuditEntry.objects.filter(act="portal_open").exists()

    assert link.post(f"{page}/answer", {**form, "text": "Here it is."}).status_code == 303
    assert TicketLink.objects.get().used_at is not None
    assert AuditEntry.objects.filter(act="portal_open").count() == 1


@pytest.mark.parametrize(
    ("given", "grade", "says"),
    [
        ({"PUBLIC_URL": "https://desk.example.com"}, OK, "lead to https://desk.example.com"),
        ({"ALLOWED_HOSTS": ["*", ".a.example", "b.example"]}, OK, "lead to http://b.example"),
        ({"ALLOWED_HOSTS": ["*"]}, WARN, "have no link"),
        ({"ALLOWED_HOSTS": ["*"], "COMPANY_PAGE": False}, OK, "off"),
        (
            {
                "ALLOWED_HOSTS": [],
                "EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend",
            },
            OK,
            "emails are printed",
        ),
    ],
)
def test_doctor_warns_of_emails_without_links(
    db: None, settings: Settings, given: dict[str, Any], grade: Any, says: str
) -> None:
    settings.PUBLIC_URL = ""
    for name, value in given.items():
        setattr(settings, name, value)

    finding = examined("company_page")

    assert finding.grade is grade
    assert says in finding.detail
