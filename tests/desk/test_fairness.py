"""The report about how evenly agents were assigned tickets."""

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from desk.reports.counting import Scope
from desk.reports.fairness import most_to_least, report
from desk.reports.figures import days_up_to_today
from tests import builders as build
from tickets.assignment.automatic import assign
from tickets.assignment.reassigning import reassign
from tickets.models import Agent


def test_ratio_of_shares_is_unknown_where_somebody_has_none() -> None:
    assert (most_to_least([3, 4, 6]), most_to_least([0, 4]), most_to_least([])) == (2, None, None)


def test_reports_assignments_relative_to_capacity(company: Company) -> None:
    small, large = build.agent("ada", capacity=20), build.agent("bob", capacity=40)
    eve = build.agent("eve", group="lead", available=False).user
    for _ in range(30):
        assign(build.ticket(company))
    ticket = build.ticket(
        company, status=2, decided_at=timezone.now(), agent=large, decided_by=large.user
    )

    selection = Scope(days_up_to_today(7))
    table = report(selection)

    shares = {one.agent: one for one in table.shares}
    assert set(shares) == {"ada", "bob"}
    assert (shares["ada"].received, shares["bob"].received) == (10, 20)
    assert shares["ada"].ratio == pytest.approx(1)
    assert (shares["ada"].decided, shares["bob"].decided) == (0, 1)
    assert table.most_to_least == pytest.approx(1)

    # Tickets that a lead assigns count too.
    reassign(small.tickets.first().pk, large, user=eve)
    assert {one.agent: one.received for one in report(selection).shares} == {"ada": 10, "bob": 21}
    assert ticket.agent == large


def test_shows_the_report_to_a_lead(client: Client, company: Company, agent: Agent) -> None:
    client.force_login(build.agent("eve", group="lead", available=False).user)
    for _ in range(3):
        assign(build.ticket(company))

    html = client.get("/admin/figures/fairness/", {"days": "28"}).content.decode()

    assert "<strong>1.00</strong>" in html
    assert "100.0 %" in html
