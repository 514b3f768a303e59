"""Due dates of all open tickets follow changed targets and shipments that become known."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from shipments.models import Shipment
from tests import builders as build
from tickets import jobs, working
from tickets.models import Agent, Calendar, FilingRule, Holiday, SLATarget, Ticket
from tickets.sla import recalculation
from tickets.statuses import TERMINAL, Status

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
DUE = ("first_response_due_at", "resolution_due_at", "due_at")


@pytest.fixture(autouse=True)
def monday(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: MONDAY)


def dues(ticket: Ticket) -> tuple[datetime | None, ...]:
    ticket.refresh_from_db()
    return tuple(getattr(ticket, name) for name in DUE)


def test_tickets_from_before_the_clocks_are_wound(company: Company) -> None:
    ticket = build.ticket(company)

    assert jobs.recalculate_stale() == 1

    assert dues(ticket) == (MONDAY + 8 * HOUR, MONDAY + 100 * HOUR, MONDAY + 8 * HOUR)
    assert jobs.recalculate_stale() == 0


def test_recalculation_does_not_change_the_ticket(company: Company) -> None:
    ticket = build.ticket(company)
    fields = {"version": 1, "updated_at": ticket.updated_at, "status": Status.PENDING}

    jobs.recalculate_stale()

    assert Ticket.objects.values(*fields).get() == fields
    assert not ticket.history.exists()


def shorter() -> None:
    SLATarget.objects.update(first_response_minutes=60)


def closed_on_monday() -> None:
    Holiday.objects.create(calendar=Calendar.objects.get(), day=MONDAY.date())


def elsewhere() -> None:
    Calendar.objects.update(time_zone="America/New_York")


def its_own_target() -> None:
    values = {"first_response_minutes": 60, "resolution_minutes": 60}
    SLATarget.objects.create(type_id=3, calendar=Calendar.objects.get(), **values)


def another_plan() -> None:
    Company.objects.update(plan="gold")


@pytest.mark.parametrize(
    ("change", "hours"),
    [(shorter, 1), (closed_on_monday, 32), (elsewhere, 13), (its_own_target, 1), (another_plan, 2)],
)
def test_whoever_changes_the_rules_and_however_it_is_found(
    company: Company, change: Callable[[], None], hours: int
) -> None:
    values = {"first_response_minutes": 120, "resolution_minutes": 120}
    SLATarget.objects.create(plan="gold", calendar=Calendar.objects.get(), **values)
    ticket = build.ticket(company)
    jobs.recalculate_stale()

    change()

    assert jobs.recalculate_stale() == 1
    assert dues(ticket)[2] == MONDAY + hours * HOUR
    assert jobs.recalculate_stale() == 0


def test_without_a_target_nothing_is_due_any_more(company: Company) -> None:
    ticket = build.ticket(company)
    jobs.recalculate_stale()
    SLATarget.objects.all().delete()

    assert jobs.recalculate_stale() == 1
    assert dues(ticket) == (None, None, None)
    assert jobs.recalculate_stale() == 0


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_due_dates_of_a_decided_ticket_stay(company: Company, status: Status) -> None:
    promised = MONDAY - HOUR
    ticket = build.ticket(company, status=status, resolution_due_at=promised)

    assert jobs.recalculate_stale() == 0
    assert dues(ticket) == (None, promised, None)


def test_counts_what_happened_before(company: Company, agent: Agent) -> None:
    ticket = build.ticket(company, created_at=MONDAY - 72 * HOUR)
    working.move(ticket.pk, Status.INCOMPLETE, user=agent.user, reason="The invoice, please.")
    as_moved = dues(ticket)
    Ticket.objects.update(clock_digest=0, first_response_due_at=None)

    assert jobs.recalculate_stale() == 1
    assert dues(ticket) == as_moved == (MONDAY - 64 * HOUR, None, None)


def test_a_ticket_without_its_history_stands_where_its_status_says(company: Company) -> None:
    ticket = build.ticket(company, status=Status.INCOMPLETE, created_at=MONDAY - 72 * HOUR)

    jobs.recalculate_stale()

    assert dues(ticket)[2] is None


def test_continues_after_a_kill(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        build.ticket(company)
    monkeypatch.setattr(recalculation, "BATCH", 2)
    saved_ids, save = [], recalculation.save_due_dates

    def die_in_the_second(tickets: list[Ticket]) -> None:
        if saved_ids:
            raise KeyboardInterrupt
        saved_ids.append(len(tickets))
        save(tickets)

    monkeypatch.setattr(recalculation, "save_due_dates", die_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        jobs.recalculate_stale()
    assert Ticket.objects.filter(due_at=None).count() == 3

    monkeypatch.setattr(recalculation, "save_due_dates", save)
    assert jobs.recalculate_stale() == 3
    assert not Ticket.objects.filter(due_at=None).exists()


def test_takes_as_many_statements_for_thirty_as_for_one(company: Company) -> None:
    counts = []
    for number in (1, 29):
        for _ in range(number):
            build.ticket(company, shipment_id=7)
        Ticket.objects.update(clock_digest=0)
        with CaptureQueriesContext(connection) as captured:
            jobs.recalculate_stale()
        counts.append(len(captured))

    assert counts == [15, 15]


def filed(ticket: Ticket) -> tuple[str, datetime | None]:
    ticket.refresh_from_db()
    return ticket.carrier_name, ticket.filing_due_at


def rule(**changes: Any) -> FilingRule:
    return FilingRule.objects.create(**{"type_id": 4, "days": 30, **changes})


def test_a_shipment_that_becomes_known_late_says_until_when_to_file(company: Company) -> None:
    rule()
    ticket = build.ticket(company, type_id=4, shipment_id=4101)
    assert jobs.recalculate_stale() == 1
    assert (jobs.set_late_claim_deadlines(), filed(ticket)) == (0, ("", None))

    shipment = build.shipment(company)
    assert (jobs.set_late_claim_deadlines(), filed(ticket)) == (1, ("acme", None))

    shipment.shipped_at = MONDAY
    shipment.save()
    assert (jobs.set_late_claim_deadlines(), filed(ticket)) == (1, ("acme", MONDAY + 720 * HOUR))
    assert jobs.set_late_claim_deadlines() == 0


def test_waits_for_the_delivery_where_the_days_count_from_it(company: Company) -> None:
    rule(carrier_name="acme", days=10, counts_from_delivery=True)
    build.shipment(company, shipped_at=MONDAY)
    ticket = build.ticket(company, type_id=4, shipment_id=4101, carrier_name="acme")
    jobs.recalculate_stale()
    assert (jobs.set_late_claim_deadlines(), filed(ticket)) == (0, ("acme", None))

    Shipment.objects.update(delivered_at=MONDAY + HOUR)

    assert (jobs.set_late_claim_deadlines(), filed(ticket)) == (1, ("acme", MONDAY + 241 * HOUR))


def test_a_changed_filing_rule_counts_for_open_tickets(company: Company) -> None:
    build.shipment(company, shipped_at=MONDAY)
    ticket = build.ticket(company, type_id=4, shipment_id=4101)
    jobs.recalculate_stale()
    filing_rule = rule()

    assert (jobs.recalculate_stale(), filed(ticket)) == (1, ("acme", MONDAY + 720 * HOUR))
    filing_rule.delete()
    assert (jobs.recalculate_stale(), filed(ticket)) == (1, ("acme", None))


def test_another_company_s_shipment_is_never_looked_at(company: Company, birch: Company) -> None:
    rule()
    build.shipment(birch, shipped_at=MONDAY)
    ticket = build.ticket(company, type_id=4, shipment_id=4101)

    jobs.recalculate_stale()

    assert (jobs.set_late_claim_deadlines(), filed(ticket)) == (0, ("", None))


def test_a_move_takes_the_rules_of_now_along(
    company: Company, agent: Agent, birch: Company
) -> None:
    rule()
    build.shipment(company, shipped_at=MONDAY)
    ticket = build.ticket(company, type_id=4, shipment_id=4101)

    working.move(ticket.pk, Status.IN_REVIEW, user=agent.user)

    assert filed(ticket) == ("acme", MONDAY + 720 * HOUR)
    assert jobs.recalculate_stale() == 0
