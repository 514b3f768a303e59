"""Due dates through the public interfaces, with a fixed clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets import working
from tickets.models import Agent, Calendar, FilingRule, SLATarget, Ticket, WorkingHours
from tickets.sla import clocks, policy
from tickets.statuses import Status

Clock = Callable[..., datetime]
CLOCKS = ("first_response_due_at", "resolution_due_at", "due_at")


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Return a time in March 2026, whose second is a Monday."""
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a function that sets the time to a day of March 2026 and an hour."""

    def set_to(*when: int) -> datetime:
        monkeypatch.setattr(timezone, "now", lambda: at(*when))
        return at(*when)

    return set_to


def opened(api: APIClient, type_id: int = 2, **body: Any) -> Ticket:
    answer = api.post("/company/tickets", {"type_id": type_id, **body})
    assert answer.status_code == 200, answer.json()
    return Ticket.objects.get(pk=answer.json()["id"])


def dues(ticket: Ticket) -> tuple[datetime | None, ...]:
    ticket.refresh_from_db()
    return ticket.first_response_due_at, ticket.resolution_due_at, ticket.due_at


def test_a_ticket_s_life_as_the_clocks_see_it(api: APIClient, agent: Agent, clock: Clock) -> None:
    clock(2, 11)
    ticket = opened(api)
    # Eight hours to answer and forty to decide; a working day has nine.
    assert dues(ticket) == (at(3, 10), at(6, 15), at(3, 10))

    working.write(ticket.pk, "Between us.", user=agent.user, public=False)
    assert dues(ticket) == (at(3, 10), at(6, 15), at(3, 10))
    assert ticket.first_responded_at is None

    clock(2, 12)
    working.write(ticket.pk, "We look into it.", user=agent.user, public=True)
    assert dues(ticket) == (at(3, 10), at(6, 15), at(6, 15))
    assert ticket.first_responded_at == at(2, 12)

    clock(3, 9)
    working.move(ticket.pk, Status.INCOMPLETE, user=agent.user, reason="The invoice, please.")
    assert dues(ticket) == (at(3, 10), None, None)

    clock(5, 9)
    body = {"ticket_status_id": Status.FOLLOW_UP, "comments": "Here is the invoice."}
    assert api.put(f"/company/tickets/{ticket.pk}", body).status_code == 200
    assert dues(ticket) == (at(3, 10), at(10, 15), at(10, 15))

    clock(6, 9)
    working.move(ticket.pk, Status.ACCEPTED, user=agent.user)
    assert dues(ticket) == (at(3, 10), at(10, 15), None)
    assert (ticket.decided_at, ticket.first_responded_at) == (at(6, 9), at(2, 12))
    assert clocks.resolution(ticket, at(31, 9)) == clocks.ClockState.DONE

    clock(9, 9)
    lead = build.agent("bea", group="lead")
    working.move(ticket.pk, Status.IN_REVIEW, user=lead.user, reason="The carrier objects.")
    assert dues(ticket) == (at(3, 10), at(11, 15), at(11, 15))
    assert ticket.decided_at is None


@pytest.mark.parametrize("to", [Status.INCOMPLETE, Status.DECLINED, Status.ACCEPTED])
def test_move_visible_to_the_company_is_a_first_response(
    api: APIClient, agent: Agent, clock: Clock, to: Status
) -> None:
    clock(2, 11)
    ticket = opened(api)
    clock(4, 10)
    working.move(ticket.pk, to, user=agent.user, reason="Because.")

    assert dues(ticket)[0] == at(3, 10)
    assert ticket.first_responded_at == at(4, 10)
    assert clocks.first_response(ticket, at(4, 11)) == clocks.ClockState.DONE_LATE


def test_review_is_no_first_response(api: APIClient, agent: Agent, clock: Clock) -> None:
    clock(2, 11)
    ticket = opened(api)
    working.move(ticket.pk, Status.IN_REVIEW, user=agent.user)

    assert dues(ticket) == (at(3, 10), at(6, 15), at(3, 10))
    assert ticket.first_responded_at is None


def test_company_s_text_is_no_first_response(api: APIClient, clock: Clock) -> None:
    clock(2, 11)
    ticket = opened(api)
    clock(2, 12)
    api.post(f"/company/tickets/comments/{ticket.pk}", {"comments": "Anybody there?"})

    assert dues(ticket) == (at(3, 10), at(6, 15), at(3, 10))
    assert ticket.first_responded_at is None


def test_refused_move_changes_no_due_date(api: APIClient, agent: Agent, clock: Clock) -> None:
    clock(2, 11)
    ticket = opened(api)
    before = dues(ticket)
    with pytest.raises(working.MoveRefused):
        working.move(ticket.pk, Status.DECLINED, user=agent.user)

    assert dues(ticket) == before
    assert (ticket.first_responded_at, ticket.decided_at) == (None, None)


@pytest.mark.parametrize(
    ("plan", "type_id", "first"), [("gold", 4, 1), ("gold", 2, 2), ("tin", 4, 3), ("tin", 2, 480)]
)
def test_the_most_specific_target_counts(
    api: APIClient, company: Company, clock: Clock, plan: str, type_id: int, first: int
) -> None:
    for minutes, about in enumerate([("gold", 4), ("gold", None), ("", 4)], start=1):
        target(about[0], about[1], first_response_minutes=minutes)
    company.plan = plan
    company.save()
    clock(2, 9)

    ticket = opened(api, type_id, **({"shipment_id": 7} if type_id == 4 else {}))

    assert ticket.due_at == at(2, 9) + timedelta(minutes=first)


def target(plan: str = "", type_id: int | None = None, **changes: Any) -> SLATarget:
    calendar = Calendar.objects.get()
    values = {"calendar": calendar, "first_response_minutes": 60, "resolution_minutes": 120}
    return SLATarget.objects.create(plan=plan, type_id=type_id, **{**values, **changes})


@pytest.mark.parametrize("spoil", ["no target", "no hours", "no zone", "for ever"])
def test_without_a_usable_target_nothing_is_due_and_tickets_are_opened(
    api: APIClient, agent: Agent, spoil: str
) -> None:
    match spoil:
        case "no target":
            SLATarget.objects.all().delete()
        case "no hours":
            WorkingHours.objects.all().delete()
        case "no zone":
            Calendar.objects.update(time_zone="Europe/Atlantis")
        case "for ever":
            SLATarget.objects.update(resolution_minutes=2**31 - 1)

    ticket = opened(api)
    assert dues(ticket) == (None, None, None)

    working.move(ticket.pk, Status.INCOMPLETE, user=agent.user, reason="The invoice, please.")
    assert dues(ticket)[1:] == (None, None)
    assert ticket.first_responded_at is not None


@pytest.mark.parametrize(
    ("rules", "days"),
    [
        ([("", 30, False)], 30),
        ([("", 30, False), ("ACME", 15, False)], 15),
        ([("", 30, False), ("other", 15, False)], 30),
        ([("", 30, True)], 34),
        ([("other", 15, False)], None),
        ([], None),
    ],
)
def test_claim_deadline_follows_the_filing_rule(
    api: APIClient, company: Company, rules: list[tuple[str, int, bool]], days: int | None
) -> None:
    for carrier, number, from_delivery in rules:
        filing_rule(carrier, days=number, counts_from_delivery=from_delivery)
    build.shipment(company, shipped_at=at(2, 7), delivered_at=at(6, 7))

    ticket = opened(api, 4, shipment_id=4101)

    assert ticket.carrier_name == "acme"
    assert ticket.filing_due_at == (days and at(2, 7) + timedelta(days=days))


def filing_rule(carrier_name: str = "", type_id: int = 4, **changes: Any) -> FilingRule:
    return FilingRule.objects.create(
        carrier_name=carrier_name, type_id=type_id, **{"days": 30, **changes}
    )


def test_shipment_of_another_company_sets_no_claim_deadline(
    api: APIClient, company: Company, birch: Company
) -> None:
    filing_rule()
    build.shipment(birch, shipped_at=at(2, 7))

    ticket = opened(api, 4, shipment_id=4101)

    assert (ticket.carrier_name, ticket.filing_due_at) == ("", None)


def statements(api: APIClient, **body: Any) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        assert api.post("/company/tickets", body).status_code == 200
    return [each["sql"] for each in captured if "SAVEPOINT" not in each["sql"]]


def test_due_dates_cost_an_opening_one_statement_and_no_write(
    api: APIClient, company: Company, agent: Agent
) -> None:
    build.shipment(company, shipped_at=at(2, 7))
    # Opening one fills the cache of rules, which lasts ten seconds.
    opened(api)

    queries = statements(api, type_id=4, shipment_id=4101)
    rules = ("tickets_target", "tickets_calendar", "tickets_filingrule")

    assert len([sql for sql in queries if 'FROM "shipments_shipment"' in sql]) == 1
    assert [sql for sql in queries if any(table in sql for table in rules)] == []
    writes = [sql for sql in queries if any(each in sql for each in WRITES)]
    assert ["clock_digest" in sql for sql in writes] == [True, False]


# A ticket is written when it is created, and when it is assigned.
WRITES = ('INSERT INTO "tickets_ticket"', "UPDATE tickets_ticket")


def test_a_change_of_targets_counts_at_once_where_it_was_made(api: APIClient, clock: Clock) -> None:
    clock(2, 9)
    assert opened(api).due_at == at(2, 17)
    SLATarget.objects.update(first_response_minutes=60)
    assert opened(api, 9).due_at == at(2, 17)

    policy.clear_cached_rules()

    assert opened(api, 10).due_at == at(2, 10)
