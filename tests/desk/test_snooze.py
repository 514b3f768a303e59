"""Snoozed tickets: out of Mine, back in time, invisible to companies."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from desk.models import Preferences
from desk.ticket.together import snooze_days
from tests import builders as build
from tests import files
from tests.conftest import signed_in
from tests.desk.forms import token
from tests.desk.words import words
from tickets import updating, working
from tickets.assignment import handing_over, reassigning, taking
from tickets.automations import running
from tickets.changes import snoozing
from tickets.changes.actors import Actor
from tickets.history_codes import Kind
from tickets.jobs import notify_of_late_tickets
from tickets.models import Agent, HistoryEntry, Notification, Snooze, Ticket
from tickets.statuses import By, Status

LIST = "/admin/tickets/ticket/"
MEXICO = ZoneInfo("America/Mexico_City")
# A Wednesday, late in the evening in Mexico; in UTC it is Thursday.
NOW = datetime(2026, 11, 25, 22, 30, tzinfo=MEXICO)
THEM = Actor(By.COMPANY, "live_1")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Clock:
    """A clock that stands still; the agent signs in again after each step, as sessions end."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, by: timedelta, desk: Client, agent: Agent) -> None:
        self.now += by
        desk.force_login(agent.user)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    return clock


@pytest.fixture
def ticket(company: Company, agent: Agent, clock: Clock) -> Ticket:
    """Create a ticket of Ada, who is in Mexico."""
    Preferences.objects.create(user=agent.user, time_zone=str(MEXICO))
    return mine(company, agent)


def mine(company: Company, agent: Agent, **more: Any) -> Ticket:
    opened = {"status": Status.IN_REVIEW, "created_at": NOW, "updated_at": NOW}
    return build.ticket(company, agent=agent, **{**opened, **more})


def send(desk: Client, ticket: Ticket, **fields: Any) -> str:
    """Post to the ticket's page; return the text of the next page."""
    address = f"{LIST}{ticket.pk}/snooze/"
    answer = desk.post(address, {"seen": token(ticket), **fields}, follow=True)
    assert answer.status_code == 200
    return words(answer.content.decode())


def listed(desk: Client, queue: str) -> list[int]:
    return [one.pk for one in desk.get(LIST, {"queue": queue}).context["cl"].result_list]


def until(ticket: Ticket) -> datetime | None:
    snooze = Snooze.objects.asleep(timezone.now()).filter(ticket=ticket).first()
    return snooze.until if snooze else None


def test_a_ticket_sleeps_until_a_day_begins_in_the_agent_s_zone(
    desk: Client, ticket: Ticket, company: Company, agent: Agent, clock: Clock
) -> None:
    other = mine(company, agent)
    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    offered = re.findall(r'name="day" value="([^"]+)"', html)
    assert offered == ["2026-11-26", "2026-11-27", "2026-11-30", "company"]

    text = send(desk, ticket, day="2026-11-27")

    assert "Snoozed until Friday 27 November, or until the company writes." in text
    assert until(ticket) == datetime(2026, 11, 27, tzinfo=MEXICO)
    assert (listed(desk, "mine"), listed(desk, "snoozed")) == ([other.pk], [ticket.pk])
    assert taking.next_of(agent) == other
    assert ticket.pk in listed(desk, "open")
    assert "Snoozed until Friday 27 November" in words(
        desk.get(LIST, {"queue": "snoozed"}).content.decode()
    )
    counts = desk.get(LIST, {"queue": "snoozed"}).context["sidebar_navigation"][0]["items"]
    assert {str(one["title"]): one["badge"] for one in counts}["Snoozed"] == "1"

    clock.go_on(datetime(2026, 11, 27, tzinfo=MEXICO) - NOW, desk, agent)
    assert listed(desk, "mine") == [ticket.pk, other.pk]
    assert listed(desk, "snoozed") == []


def test_its_agent_is_notified_once_when_it_is_back(
    desk: Client, ticket: Ticket, agent: Agent, clock: Clock
) -> None:
    send(desk, ticket, day="2026-11-26")
    notify_of_late_tickets()
    assert not Notification.objects.exists()

    clock.go_on(2 * HOUR, desk, agent)
    notify_of_late_tickets()
    notify_of_late_tickets()

    (notification,) = Notification.objects.all()
    assert (notification.kind, notification.recipient) == (Notification.Kind.WOKEN, agent.user)
    assert not Snooze.objects.exists()
    page = words(desk.get("/admin/notifications/").content.decode())
    assert f"Ticket #{ticket.pk}, which you snoozed, is back." in page
    history = words(desk.get(f"{LIST}{ticket.pk}/change/").content.decode())
    assert "ada snoozed it. Snoozed until Thursday 26 November." in history
    assert "The system brought it back." in history


def test_it_can_be_brought_back(desk: Client, ticket: Ticket) -> None:
    send(desk, ticket, day="company")
    assert until(ticket) == NOW + snoozing.LONGEST

    assert "back in your list" in send(desk, ticket, wake="1")
    assert until(ticket) is None
    assert listed(desk, "mine") == [ticket.pk]
    send(desk, ticket, wake="1")
    kinds = HistoryEntry.objects.filter(ticket=ticket).values_list("kind", flat=True)
    assert list(kinds) == [Kind.SNOOZED, Kind.WOKEN]


def comment(ticket: Ticket) -> None:
    updating.comment(ticket.company, ticket.pk, THEM, "Where is it?")


def answer(ticket: Ticket) -> None:
    updating.update_ticket(
        ticket.company, ticket.pk, THEM, to=Status.FOLLOW_UP, text="The invoice came today."
    )


def upload(ticket: Ticket) -> None:
    assert files.send(signed_in(ticket.company), ticket.pk, files.picture())[0] == 200


@pytest.mark.parametrize("act", [comment, answer, upload])
def test_it_is_back_at_once_when_the_company_writes(
    desk: Client, ticket: Ticket, company: Company, agent: Agent, act: Any
) -> None:
    bystander = mine(build.company("Globex"), agent)
    send(desk, bystander, day="company")
    send(desk, ticket, day="company")

    act(ticket)

    assert listed(desk, "mine") == [ticket.pk]
    assert listed(desk, "snoozed") == [bystander.pk]
    (notification,) = Notification.objects.filter(ticket=ticket)
    assert notification.kind == Notification.Kind.ANSWERED


def test_it_is_back_when_it_changes_hands(
    desk: Client, ticket: Ticket, agent: Agent, clock: Clock
) -> None:
    ben, eve = build.agent("ben"), build.agent("eve", group="lead")
    for give in (
        lambda: handing_over.hand_over(ticket.pk, ben, user=agent.user, confirmed=True),
        lambda: reassigning.reassign(ticket.pk, ben, user=eve.user),
    ):
        Ticket.objects.filter(pk=ticket.pk).update(agent=agent)
        send(desk, ticket, day="company")
        assert until(ticket)
        give()
        client = Client()
        client.force_login(ben.user)
        assert listed(client, "mine") == [ticket.pk]
        assert listed(client, "snoozed") == listed(desk, "snoozed") == []

    snoozing.wake_due()
    assert not Snooze.objects.exists()
    assert not Notification.objects.filter(kind=Notification.Kind.WOKEN).exists()


@pytest.mark.parametrize(
    ("column", "before"), [("due_at", 2 * HOUR), ("filing_due_at", DAY)], ids=["due", "claim"]
)
def test_nobody_sleeps_through_a_deadline(
    desk: Client,
    company: Company,
    agent: Agent,
    ticket: Ticket,
    clock: Clock,
    column: str,
    before: timedelta,
) -> None:
    one = mine(company, agent, **{column: NOW + 3 * DAY})
    send(desk, one, day="2026-12-24")
    assert until(one) == NOW + 3 * DAY - before

    # A deadline that moved closer or became known afterwards.
    send(desk, ticket, day="2026-12-24")
    Ticket.objects.filter(pk=ticket.pk).update(**{column: NOW + before + HOUR})
    assert listed(desk, "mine") == []
    clock.go_on(HOUR, desk, agent)
    assert listed(desk, "mine") == [ticket.pk]
    snoozing.wake_due()
    assert Notification.objects.get().ticket == ticket
    # It stays awake, even when the deadline has passed.
    clock.go_on(before + HOUR, desk, agent)
    assert ticket.pk in listed(desk, "mine")

    assert "A deadline of this ticket is near" in send(
        desk, mine(company, agent, **{column: clock.now + before}), day="company"
    )


def test_an_overdue_ticket_can_sleep(desk: Client, company: Company, agent: Agent) -> None:
    late = timezone.now() - DAY
    one = build.ticket(company, agent=agent, due_at=late, filing_due_at=late)
    send(desk, one, day=str(timezone.localdate() + 5 * DAY))

    assert listed(desk, "mine") == []
    # Its clock keeps running, and leads see it.
    assert listed(desk, "overdue") == [one.pk]


@pytest.mark.parametrize("day", ["", "2026-11-25", "2020-01-01", "x", "9999-99-99", "Friday"])
def test_invalid_or_past_day_is_refused(desk: Client, ticket: Ticket, day: str) -> None:
    assert "Choose a day" in send(desk, ticket, day=day)
    assert not Snooze.objects.exists()


def test_only_its_agent_snoozes(desk: Client, ticket: Ticket, company: Company) -> None:
    theirs = mine(company, build.agent("ben"))
    for one in (theirs, build.ticket(company), mine(company, ticket.agent, status=3)):
        html = desk.get(f"{LIST}{one.pk}/change/").content.decode()
        assert 'id="snooze"' not in html
        assert "Only the agent of an open ticket" in send(desk, one, day="company")
    auditor = Client()
    auditor.force_login(build.agent("olga", group="auditor").user)
    assert auditor.post(f"{LIST}{ticket.pk}/snooze/", {"day": "company"}).status_code == 403
    assert desk.get(f"{LIST}{ticket.pk}/snooze/").status_code == 405


def test_what_the_company_wrote_meanwhile_is_read_first(desk: Client, ticket: Ticket) -> None:
    page_token = token(ticket)
    comment(ticket)

    assert "something new on this ticket" in send(desk, ticket, day="company", seen=page_token)
    assert not Snooze.objects.exists()


def test_a_decision_ends_it(desk: Client, ticket: Ticket, agent: Agent) -> None:
    send(desk, ticket, day="company")
    working.move(ticket.pk, Status.ACCEPTED, user=agent.user)

    assert not Snooze.objects.exists()
    assert listed(desk, "snoozed") == []


def test_companies_never_see_it(desk: Client, ticket: Ticket, company: Company) -> None:
    client = signed_in(company)
    addresses = (f"/company/tickets/{ticket.pk}", "/company/tickets")
    before = [client.get(one).json() for one in addresses]
    assert before[0]

    send(desk, ticket, day="company")

    assert [client.get(one).json() for one in addresses] == before


def test_automations_go_on(desk: Client, ticket: Ticket, agent: Agent) -> None:
    """Include snoozed tickets in the list of silent ones."""
    send(desk, ticket, day="company")
    assert running.run_automations() == 0
    assert until(ticket)


@pytest.mark.parametrize(
    ("today", "offered"),
    [
        (23, [24, 27, 30]),
        (25, [26, 27, 30]),
        (26, [27, 30, 34]),
        (27, [28, 30, 34]),
        (28, [29, 30, 34]),
        (29, [30, 34, 37]),
    ],
)
def test_tomorrow_and_the_friday_and_monday_after_it_are_offered(
    monkeypatch: pytest.MonkeyPatch, today: int, offered: list[int]
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, today, 12, tzinfo=UTC))

    days = [date.fromisoformat(day) for day, _ in snooze_days()]

    assert days == [date(2026, 11, 1) + timedelta(days=one - 1) for one in offered]
    assert {day.weekday() for day in days[1:]} == {0, 4}
