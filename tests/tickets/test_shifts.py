"""Availability of agents: shifts in their own time zone, and absences."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets import agents, jobs
from tickets.assignment import automatic
from tickets.models import Absence, Agent, Shift, Ticket

MADRID = "Europe/Madrid"


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def shift(agent: Agent, weekday: int, starts: str, ends: str) -> Shift:
    hours = {"starts": time.fromisoformat(starts), "ends": time.fromisoformat(ends)}
    return Shift.objects.create(agent=agent, weekday=weekday, **hours)


def at_work(agent: Agent, at: datetime) -> bool:
    return Agent.objects.at_work(at).filter(pk=agent.pk).exists()


# 2026-03-27 is a Friday and still winter in Madrid; summer begins on Sunday the 29th.
@pytest.mark.parametrize(
    ("utc", "there"),
    [
        ("2026-03-27 07:59", False),
        ("2026-03-27 08:00", True),
        ("2026-03-27 12:59:59", True),
        ("2026-03-27 13:00", False),
        ("2026-03-27 13:59", False),
        ("2026-03-27 14:00", True),
        ("2026-03-27 17:00", False),
        # A week later the same wall clock is an hour earlier.
        ("2026-04-03 06:59", False),
        ("2026-04-03 07:00", True),
        ("2026-04-03 12:00", False),
        # Another day of the week.
        ("2026-03-26 09:00", False),
    ],
)
def test_reads_the_clock_where_the_agent_works(agent: Agent, utc: str, there: bool) -> None:
    Agent.objects.filter(pk=agent.pk).update(time_zone=MADRID)
    shift(agent, 4, "09:00", "14:00")
    shift(agent, 4, "15:00", "18:00")

    assert at_work(agent, instant(utc)) == there


@pytest.mark.parametrize(
    ("zone", "utc", "there"),
    [
        # Monday has begun in Auckland while it is Sunday noon in London.
        ("Pacific/Auckland", "2026-07-05 12:00", True),
        ("Pacific/Auckland", "2026-07-06 11:59", True),
        ("Pacific/Auckland", "2026-07-06 12:00", False),
        ("America/Mexico_City", "2026-07-06 05:59", False),
        ("America/Mexico_City", "2026-07-06 06:00", True),
        ("America/Mexico_City", "2026-07-07 05:59", True),
    ],
)
def test_takes_the_day_of_the_week_from_there_too(
    agent: Agent, zone: str, utc: str, there: bool
) -> None:
    Agent.objects.filter(pk=agent.pk).update(time_zone=zone)
    shift(agent, 0, "00:00", "00:00")

    assert at_work(agent, instant(utc)) == there


def test_who_has_no_shifts_is_always_at_work(agent: Agent) -> None:
    shift(build.agent("bob"), 0, "09:00", "10:00")

    assert at_work(agent, instant("2026-03-29 03:00"))


def test_an_absence_counts_more_than_a_shift(agent: Agent) -> None:
    shift(agent, 4, "00:00", "00:00")
    begins, ends = instant("2026-03-27 10:00"), instant("2026-03-27 12:00")
    Absence.objects.create(agent=agent, starts_at=begins, ends_at=ends)

    second = timedelta(seconds=1)
    times = [begins - second, begins, ends - second, ends]
    assert [at_work(agent, at) for at in times] == [True, False, False, True]


def test_absent_agent_gets_nothing(api: APIClient, agent: Agent) -> None:
    now = timezone.now()
    hour = timedelta(hours=1)
    Absence.objects.create(agent=agent, starts_at=now - hour, ends_at=now + hour)

    api.post("/company/tickets", {"type_id": 2})

    assert Ticket.objects.get().agent is None


def test_start_of_a_shift_assigns_waiting_tickets(company: Company, agent: Agent) -> None:
    now = timezone.now()
    other_days = [shift(agent, (now.weekday() + day) % 7, "00:00", "00:00") for day in (3, 4)]
    ticket = build.ticket(company)
    jobs.assign_waiting()
    ticket.refresh_from_db()
    assert ticket.agent is None

    # The hour has come, or comes at this very midnight.
    for day, other in enumerate(other_days):
        Shift.objects.filter(pk=other.pk).update(weekday=(now.weekday() + day) % 7)
    jobs.assign_waiting()

    ticket.refresh_from_db()
    assert ticket.agent == agent


def test_an_agent_who_leaves_between_the_lock_and_the_count_gets_nothing(
    company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = automatic.lock_agents

    def lock_then_leave(type_id: int) -> list[int]:
        pool, now = lock(type_id), timezone.now()
        Absence.objects.create(agent=agent, starts_at=now, ends_at=now + timedelta(hours=1))
        return pool

    monkeypatch.setattr(automatic, "lock_agents", lock_then_leave)

    assert not automatic.assign(build.ticket(company))


def test_availability_takes_one_statement(agent: Agent, django_assert_num_queries: object) -> None:
    for number in range(3):
        shift(build.agent(f"agent-{number}", time_zone=MADRID), number, "09:00", "17:00")

    with django_assert_num_queries(1):
        list(Agent.objects.taking(2))


@pytest.mark.django_db
def test_refuses_a_zone_that_would_stop_assignment() -> None:
    with pytest.raises(ValidationError, match="no time zone Mars/Base"):
        Agent(time_zone="Mars/Base").clean_fields(exclude=["user"])


def test_refuses_hours_and_absences_that_end_before_they_begin() -> None:
    with pytest.raises(ValidationError) as refusal:
        Shift(starts=time(22), ends=time(6)).clean()
    assert list(refusal.value.message_dict) == ["ends"]
    noon = instant("2026-03-27 12:00")
    with pytest.raises(ValidationError) as refusal:
        Absence(starts_at=noon, ends_at=noon).clean()
    assert list(refusal.value.message_dict) == ["ends_at"]
    Shift(starts=time(22), ends=time(0)).clean()


def test_only_the_agent_and_a_lead_change_availability(agent: Agent) -> None:
    bob, eve = build.agent("bob"), build.agent("eve", group="lead")

    agents.set_available(agent, False, user=agent.user)
    assert not Agent.objects.get(pk=agent.pk).available
    with pytest.raises(agents.NotAllowed):
        agents.set_available(agent, True, user=bob.user)
    assert not Agent.objects.get(pk=agent.pk).available
    agents.set_available(agent, True, user=eve.user)
    assert Agent.objects.get(pk=agent.pk).available
