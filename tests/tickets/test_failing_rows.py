"""A ticket that a job fails on affects no other ticket, and is reported."""

import logging
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DataError, OperationalError
from django.test import Client
from django.utils import timezone

from companies.models import Company
from core.jobs import failing_rows
from core.jobs.failing_rows import TooManyFailures
from core.models import FailedRow
from tests import builders as build
from tickets import jobs
from tickets.assignment import automatic
from tickets.changes import notifications, search_entries
from tickets.models import Agent, FilingRule, Notification, SearchEntry, Ticket
from tickets.sla import recalculation
from tickets.statuses import Status


def failing_for(bad: set[int], real: Callable[..., Any], error: Exception) -> Callable[..., Any]:
    """Wrap `real` so that it fails for these tickets."""

    def act(ticket: Ticket, *args: Any, **kwargs: Any) -> Any:
        if ticket.pk in bad:
            raise error
        return real(ticket, *args, **kwargs)

    return act


@pytest.fixture
def tickets(company: Company) -> list[Ticket]:
    return [build.ticket(company) for _ in range(7)]


def failed() -> list[tuple[str, str, int]]:
    return list(FailedRow.objects.order_by("pk").values_list("job", "key", "times"))


@pytest.fixture
def bad(tickets: list[Ticket], monkeypatch: pytest.MonkeyPatch) -> Ticket:
    """Create seven tickets, and return the one whose due dates cannot be set."""
    one = tickets[2]
    fails = failing_for({one.pk}, recalculation.set_due_dates, ZeroDivisionError("by zero"))
    monkeypatch.setattr(recalculation, "set_due_dates", fails)
    return one


def test_one_ticket_of_a_batch_fails_alone(
    bad: Ticket, tickets: list[Ticket], caplog: pytest.LogCaptureFixture
) -> None:
    assert jobs.recalculate_stale() == 6

    assert Ticket.objects.get(due_at=None) == bad
    assert failed() == [("recalculate_stale", str(bad.pk), 1)]
    assert jobs.recalculate_stale() == 0
    assert failed() == [("recalculate_stale", str(bad.pk), 2)]
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert [record.getMessage() for record in errors] == [
        f"recalculate_stale goes on without ticket {bad.pk}"
    ]
    assert errors[0].exc_info


def test_row_that_the_database_refuses_is_found_by_halving(
    tickets: list[Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    save = recalculation.save_due_dates

    def refuse_the_third(batch: list[Ticket]) -> None:
        save(batch)
        if tickets[2] in batch:
            raise DataError("out of range")

    monkeypatch.setattr(recalculation, "save_due_dates", refuse_the_third)

    assert jobs.recalculate_stale() == 6
    assert Ticket.objects.get(due_at=None) == tickets[2]


def test_failure_is_forgotten_after_a_success(bad: Ticket, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.recalculate_stale()
    monkeypatch.undo()

    assert jobs.recalculate_stale() == 1
    assert failed() == []


def test_failure_is_forgotten_after_a_day(bad: Ticket) -> None:
    jobs.recalculate_stale()
    Ticket.objects.filter(pk=bad.pk).update(status=2)
    FailedRow.objects.update(last_at=timezone.now() - timedelta(hours=25))

    jobs.recalculate_stale()

    assert failed() == []


def test_many_that_fail_keep_no_others_waiting(
    tickets: list[Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = {one.pk for one in tickets[:3]}
    fails = failing_for(worst, recalculation.set_due_dates, ValueError("worst"))
    monkeypatch.setattr(recalculation, "set_due_dates", fails)
    monkeypatch.setattr(recalculation, "MOST_AT_ONCE", 3)

    assert [jobs.recalculate_stale() for _ in range(3)] == [0, 3, 1]


def test_where_nearly_all_fail_the_job_fails(
    tickets: list[Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = {one.pk for one in tickets}
    fails = failing_for(everything, recalculation.set_due_dates, ValueError("all of them"))
    monkeypatch.setattr(recalculation, "set_due_dates", fails)
    monkeypatch.setattr(failing_rows, "MOST_FAILURES", 5)

    with pytest.raises(TooManyFailures, match="5 rows failed, the last with ValueError: all of"):
        jobs.recalculate_stale()


def test_unavailable_database_blames_no_ticket(
    tickets: list[Ticket], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: list[Ticket]) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(recalculation, "save_due_dates", fail)

    with pytest.raises(OperationalError):
        jobs.recalculate_stale()
    assert failed() == []


def test_the_other_tickets_find_an_agent(
    tickets: list[Ticket], agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tickets[0]
    fails = failing_for({first.pk}, automatic.assign, ZeroDivisionError("by zero"))
    monkeypatch.setattr(automatic, "assign", fails)

    assert jobs.assign_waiting() == 6
    assert Ticket.objects.get(agent=None) == first
    assert failed() == [("assign_waiting", str(first.pk), 1)]


def test_the_other_tickets_get_their_claim_deadline(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    FilingRule.objects.create(type_id=4, days=30)
    waiting = [build.ticket(company, type_id=4, shipment_id=4101 + n) for n in range(3)]
    jobs.recalculate_stale()
    for n in range(3):
        build.shipment(company, 4101 + n, shipped_at=timezone.now())
    real = recalculation.changes_deadline

    def fail(shipment: Any, ticket: Ticket, rules: Any) -> bool:
        if ticket.pk == waiting[0].pk:
            raise ZeroDivisionError
        return real(shipment, ticket, rules)

    monkeypatch.setattr(recalculation, "changes_deadline", fail)

    assert jobs.set_late_claim_deadlines() == 2
    assert Ticket.objects.get(filing_due_at=None) == waiting[0]
    assert failed() == [("set_late_claim_deadlines", str(waiting[0].pk), 1)]


def test_unassigning_one_ticket_of_a_leaver_fails_alone(
    company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = [build.ticket(company, agent=agent, status=Status.FOLLOW_UP) for _ in range(3)]
    User.objects.update(is_active=False)
    fails = failing_for({theirs[0].pk}, automatic.record_history, ZeroDivisionError("by zero"))
    monkeypatch.setattr(automatic, "record_history", fails)

    jobs.assign_waiting()

    assert Ticket.objects.exclude(agent=None).get() == theirs[0]
    assert failed() == [("assign_waiting", str(theirs[0].pk), 1)]


def test_agents_are_notified_of_the_other_late_tickets(
    company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = timezone.now() + timedelta(minutes=9)
    late = [build.ticket(company, agent=agent, due_at=soon) for _ in range(3)]
    fails = failing_for({late[0].pk}, notifications.notify, ZeroDivisionError("by zero"))
    monkeypatch.setattr(notifications, "notify", fails)
    monkeypatch.setattr(notifications, "MOST_AT_ONCE", 2)

    # A failed ticket comes last, so that the limit of a run is left to the others.
    assert [jobs.notify_of_late_tickets() for _ in range(3)] == [1, 1, 0]
    notified_tickets = Notification.objects.order_by("ticket").values_list("ticket", flat=True)
    assert list(notified_tickets) == [ticket.pk for ticket in late[1:]]
    assert failed() == [("notify_of_late_tickets", str(late[0].pk), 3)]


def test_the_other_tickets_are_found_by_shipments_that_came_later(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = [build.ticket(company, shipment_id=4101 + n) for n in range(4)]
    for n in range(4):
        build.shipment(company, 4101 + n, tracking_number=f"Z{n}")
    write = search_entries.write_entries

    def refuse_the_second(ticket_ids: Sequence[int]) -> None:
        write(ticket_ids)
        if tickets[1].pk in ticket_ids:
            raise DataError("no text")

    monkeypatch.setattr(search_entries, "write_entries", refuse_the_second)

    assert jobs.add_known_shipments() == 3
    assert SearchEntry.objects.get(tracking=None).pk == tickets[1].pk
    assert failed() == [("add_known_shipments", str(tickets[1].pk), 1)]


def test_failing_rows_are_shown_to_operators_and_monitoring(
    bad: Ticket, client: Client, admin_client: Client
) -> None:
    jobs.recalculate_stale()

    html = admin_client.get("/admin/core/failedrow/").content.decode()
    assert f'href="/admin/tickets/ticket/{bad.pk}/change/">ticket {bad.pk}</a>' in html
    assert "ZeroDivisionError: by zero" in html
    check = client.get("/readyz").json()["checks"]["jobs"]
    assert check["ok"]
    assert re.search(r"recalculate_stale \d+ s ago \(failed rows: 1\)", check["detail"])
    gauges = client.get("/metrics").content.decode()
    assert 'parceldesk_job_failed_rows{name="recalculate_stale"} 1.0' in gauges
    assert 'parceldesk_job_failed_rows{name="assign_waiting"} 0.0' in gauges
