"""Reminders, closing and escalation: once each, logged by name, never after an answer."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from core.models import FailedRow, Mail
from tests import builders as build
from tests.plans import offer_only
from tests.tickets.racing import racers
from tickets import jobs, updating, working
from tickets.automations import acting, running
from tickets.automations.due import due
from tickets.automations.waits import after_days, days_ago
from tickets.changes.actors import Actor
from tickets.models import Automation, Notification, Ticket
from tickets.statuses import By, Status

REMIND, CLOSE, ESCALATE = Automation.Kind
ACME = Actor(By.COMPANY, "acme")
Clock = Callable[..., datetime]


def at(day: int, hour: int = 12) -> datetime:
    """Return a time in March 2026, whose second is a Monday."""
    return datetime(2026, 3, day, hour, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    def set_to(*when: int) -> datetime:
        monkeypatch.setattr(timezone, "now", lambda: at(*when))
        return at(*when)

    set_to(2)
    return set_to


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead, who takes no tickets now."""
    return build.agent("eve", group="lead", available=False).user


@pytest.fixture
def company(company: Company) -> Company:
    company.contact_email = "dev@acme.example"
    company.save()
    return company


@pytest.fixture
def ticket(company: Company, eve: User, clock: Clock) -> Ticket:
    """Create a ticket whose company was asked for more on Monday at noon."""
    return incomplete_ticket(company, eve)


def incomplete_ticket(company: Company, eve: User, **changes: Any) -> Ticket:
    ticket = build.ticket(company, **changes)
    return working.move(ticket.pk, Status.INCOMPLETE, user=eve, reason="Send the invoice.")


def switched_on(kind: str, **changes: Any) -> Automation:
    return Automation.objects.create(kind=kind, type_id=3, active=True, **changes)


def acts(ticket: Ticket) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the entries that automations left on the ticket."""
    entries = ticket.history.filter(actor__startswith="automation:").order_by("pk")
    return list(entries.values_list("actor", "kind", "data"))


def comment_texts(ticket: Ticket) -> list[str]:
    return list(ticket.conversation.order_by("pk").values_list("text", flat=True))


def test_company_is_reminded_a_limited_number_of_times(
    ticket: Ticket, clock: Clock, api: APIClient
) -> None:
    switched_on(REMIND, wait_days=3, times=2, texts={"en": "Are you there?"})
    Mail.objects.all().delete()

    clock(5, 11)
    assert jobs.run_automations() == 0
    clock(5, 13)
    assert [jobs.run_automations(), jobs.run_automations()] == [1, 0]
    # Thursday plus three working days.
    clock(10, 12)
    assert jobs.run_automations() == 0
    clock(10, 14)
    assert jobs.run_automations() == 1
    clock(31)
    assert jobs.run_automations() == 0

    assert comment_texts(ticket) == ["Send the invoice.", "Are you there?", "Are you there?"]
    assert acts(ticket) == [
        ("automation:remind", "reminded", {"number": 1, "of": 2}),
        ("automation:remind", "reminded", {"number": 2, "of": 2}),
    ]
    assert [mail.subject for mail in Mail.objects.order_by("pk")] == [
        f"Reminder: ticket {ticket.pk} needs something from you"
    ] * 2
    data = api.get(f"/company/tickets/{ticket.pk}").json()
    assert "automation" not in str(data)
    ticket.refresh_from_db()
    assert ticket.status == Status.INCOMPLETE


def answered(ticket: Ticket) -> None:
    updating.comment(ticket.company, ticket.pk, ACME, "Here it is: 4711.")


def changed(ticket: Ticket) -> None:
    wanted = Status.CLAIM_IN_REVIEW
    updating.update_ticket(ticket.company, ticket.pk, ACME, to=wanted, data='{"a": 1}')
    Ticket.objects.filter(pk=ticket.pk).update(status=Status.INCOMPLETE, updated_at=at(2))


def switched_off(ticket: Ticket) -> None:
    Company.objects.filter(pk=ticket.company_id).update(active=False)


@pytest.mark.parametrize("what", [answered, changed, switched_off])
def test_company_that_answered_or_cannot_is_not_reminded(
    ticket: Ticket, clock: Clock, what: Callable[[Ticket], None]
) -> None:
    one = switched_on(REMIND)
    now = clock(20)
    assert list(due(one, now)) == [ticket]

    clock(2, 13)
    what(ticket)
    clock(20)

    assert jobs.run_automations() == 0
    assert acts(ticket) == []


def test_agent_s_reply_restarts_reminders_and_a_note_delays_them(
    ticket: Ticket, clock: Clock, eve: User
) -> None:
    switched_on(REMIND, wait_days=1, times=1)
    clock(4)
    assert jobs.run_automations() == 1
    working.write(ticket.pk, "The one of March.", user=eve, public=True)
    clock(5, 11)
    working.write(ticket.pk, "They called.", user=eve, public=False)

    clock(5, 13)
    assert jobs.run_automations() == 0
    clock(6, 11)
    assert jobs.run_automations() == 1


def test_silent_ticket_is_declined_after_a_last_reminder(
    ticket: Ticket, clock: Clock, api: APIClient
) -> None:
    switched_on(REMIND, wait_days=1, times=1)
    switched_on(CLOSE, wait_days=2, last_days=2, texts={"en": "No answer came."})
    for when in ((3, 13), (5, 14)):
        clock(*when)
        assert [jobs.run_automations(), jobs.run_automations()] == [1, 0]
    assert (
        "by Monday 9 March, 2:00 p.m. (UTC), this ticket is declined." in comment_texts(ticket)[-1]
    )
    Mail.objects.all().delete()

    clock(9, 13)
    assert jobs.run_automations() == 0
    clock(9, 15)
    assert [jobs.run_automations(), jobs.run_automations()] == [1, 0]

    ticket.refresh_from_db()
    assert (ticket.status, ticket.reason_code) == (Status.DECLINED, "no_answer")
    assert [kind for _, kind, _ in acts(ticket)] == ["reminded", "reminded", "moved"]
    assert acts(ticket)[-1][2] == {"code": "no_answer"}
    assert comment_texts(ticket)[-1] == "No answer came."
    assert Mail.objects.get().subject == f"Ticket {ticket.pk} was declined"
    appeal = api.post(f"/company/tickets/{ticket.pk}/appeal", {"comment": "We were away."})
    assert appeal.status_code == 200


def test_companies_are_written_to_in_their_language(
    company: Company, eve: User, clock: Clock
) -> None:
    Company.objects.filter(pk=company.pk).update(language="es")
    ticket = incomplete_ticket(Company.objects.get(pk=company.pk), eve)
    switched_on(CLOSE, wait_days=1, last_texts={"en": "Hello?", "es": "¿Sigue ahí?"})

    clock(4)
    assert jobs.run_automations() == 1

    assert comment_texts(ticket)[-1].startswith("¿Sigue ahí?\n\n")


@pytest.mark.django_db(transaction=True)
def test_a_company_that_answers_first_is_not_declined(
    company: Company, eve: User, clock: Clock
) -> None:
    ticket = incomplete_ticket(company, eve)
    one = switched_on(CLOSE, wait_days=1, last_days=1)
    clock(3, 13)
    assert acting.act(one.pk, ticket.pk)
    clock(10)

    with racers(1) as beside, transaction.atomic():
        answered(ticket)
        # The answer is not committed yet: the ticket is locked, and left to the next run.
        assert beside.run([lambda: acting.act(one.pk, ticket.pk)]) == [False]

    assert not acting.act(one.pk, ticket.pk)
    ticket.refresh_from_db()
    assert ticket.status == Status.INCOMPLETE


def test_leads_are_notified_once_of_an_escalated_ticket(
    company: Company, eve: User, clock: Clock
) -> None:
    ada = build.agent("ada")
    mine = build.ticket(company, agent=ada, due_at=at(2, 14))
    build.ticket(company, agent=ada, due_at=at(2, 15))
    build.ticket(company, agent=ada, due_at=at(2, 11))
    switched_on(ESCALATE, hours_before=2)

    assert [jobs.run_automations(), jobs.run_automations()] == [1, 0]

    notifications = Notification.objects.values_list("recipient__username", "ticket", "kind")
    assert list(notifications) == [("eve", mine.pk, "escalated")]
    assert list(Ticket.objects.escalated()) == [mine]
    assert acts(mine) == [("automation:escalate", "escalated", {"due": at(2, 14).isoformat()})]
    # After an answer it is due at another time, and no longer escalated.
    working.write(mine.pk, "We look.", user=eve, public=True)
    Ticket.objects.filter(pk=mine.pk).update(due_at=at(3, 9))
    assert list(Ticket.objects.escalated()) == []


def test_escalated_ticket_goes_to_an_agent_at_work(
    company: Company, eve: User, clock: Clock
) -> None:
    away = build.agent("ada", available=False)
    mine = build.ticket(company, agent=away, due_at=at(2, 13))
    one = switched_on(ESCALATE)
    assert acting.act(one.pk, mine.pk)
    mine.refresh_from_db()
    assert mine.agent == away

    ben = build.agent("ben")
    Ticket.objects.filter(pk=mine.pk).update(due_at=at(2, 14))
    assert acting.act(one.pk, mine.pk)

    mine.refresh_from_db()
    assert mine.agent == ben
    assert acts(mine)[-1][2]["agent"] == ["ada", "ben"]
    assert Notification.objects.filter(recipient=ben.user, kind="assigned").exists()


def test_automations_run_per_type_and_only_when_on(
    ticket: Ticket, company: Company, eve: User, clock: Clock
) -> None:
    switched_on(REMIND, wait_days=20)
    Automation.objects.create(kind=REMIND, type_id=5, wait_days=1)
    incomplete_ticket(company, eve, type_id=5)

    clock(20)
    assert jobs.run_automations() == 0


def test_run_is_bounded_and_continues_next_time(
    company: Company, eve: User, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MOST_LOOKED_AT", 2)
    quiet = [incomplete_ticket(company, eve) for _ in range(2)]
    for one in quiet:
        answered(one)
    waiting = [incomplete_ticket(company, eve) for _ in range(3)]
    Ticket.objects.filter(pk__in=[one.pk for one in waiting]).update(updated_at=at(2, 13))
    switched_on(REMIND)

    clock(20)
    assert [running.run_automations() for _ in range(4)] == [0, 2, 1, 0]

    assert [len(acts(one)) for one in waiting] == [1, 1, 1]


def test_failing_ticket_stops_no_other(
    ticket: Ticket, company: Company, eve: User, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = incomplete_ticket(company, eve)
    switched_on(REMIND)
    really = acting.remind

    def fail(target: Ticket, *args: Any, **more: Any) -> None:
        really(target, *args, **more)
        if target == ticket:
            raise RuntimeError("No words.")

    monkeypatch.setattr(acting, "remind", fail)
    clock(20)
    assert running.run_automations() == 1

    assert (len(acts(ticket)), len(acts(other))) == (0, 1)
    assert FailedRow.objects.get(job="run_automations").key == str(ticket.pk)


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("day", range(2, 9))
def test_working_days_are_counted_back_as_they_are_forward(day: int) -> None:
    later = after_days(3, at(day), 4)

    assert days_ago(3, later + timedelta(seconds=1), 4) >= at(day) - timedelta(seconds=1)
    assert days_ago(3, later - timedelta(minutes=1), 4) < at(day)


def test_silent_tickets_are_found_by_an_index(ticket: Ticket, clock: Clock) -> None:
    one = switched_on(REMIND)
    tickets = due(one, clock(20)).order_by("updated_at", "pk")[:10]

    offer_only("ticket_silent")

    assert "ticket_silent" in tickets.explain()


def test_the_command_says_what_is_on_and_what_it_would_touch(
    ticket: Ticket, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    switched_on(REMIND, wait_days=4)
    clock(20)
    call_command("automations")
    assert "remind    overweight         on   wait_days 4, times 2\n" in capsys.readouterr().out

    call_command("automations", "--dry-run", "--json")
    (on,) = (one for one in json.loads(capsys.readouterr().out) if one["active"])
    assert (on["kind"], on["type_id"], on["would_touch"]) == ("remind", 3, [ticket.pk])
    Automation.objects.update(active=False)
    call_command("automations", "--dry-run", "--all")
    output = capsys.readouterr().out
    assert output.count(f"would touch 1: {ticket.pk}\n") == 2
    assert acts(ticket) == []
