from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets import jobs
from tickets.assignment import automatic
from tickets.assignment.picking import AgentLoad, pick
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import RUNNING, Status

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def opened(api: APIClient, type_id: int = 2) -> Ticket:
    answer = api.post("/company/tickets", {"type_id": type_id})
    assert answer.status_code == 200
    return Ticket.objects.get(pk=answer.json()["id"])


def assignment_entry() -> HistoryEntry:
    """Return the history entry of the assignment."""
    return HistoryEntry.objects.get(by="system")


# Each candidate: load, capacity, last assigned at; then the index of the one to pick.
@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        ([(1, 50, None), (0, 50, None)], 1),
        # Half of a large capacity is less than nearly all of a small one.
        ([(9, 10, None), (20, 40, None)], 1),
        ([(2, 50, LATER), (1, 25, NOON)], 1),
        ([(1, 50, NOON), (1, 50, None)], 1),
        ([(1, 50, LATER), (1, 50, NOON)], 1),
        ([(1, 50, NOON), (1, 50, NOON)], 0),
        ([(1, 50, None), (1, 50, None)], 0),
        ([(5, 5, None), (4, 5, NOON)], 1),
        ([(5, 5, None), (6, 5, NOON)], None),
        ([(0, 0, None)], None),
        ([], None),
    ],
)
def test_picks_the_least_loaded_then_who_waited_longest(
    candidates: list[tuple[int, int, datetime | None]], chosen: int | None
) -> None:
    loads = [AgentLoad(place, str(place), *rest) for place, rest in enumerate(candidates)]

    picked = pick(loads)

    assert (picked and picked.agent_id) == chosen


def test_gives_a_new_ticket_to_an_agent_and_says_why(api: APIClient, company: Company) -> None:
    ada, bob = build.agent("ada"), build.agent("bob", capacity=40)
    build.ticket(company, agent=ada)
    started = datetime.now(UTC)

    ticket = opened(api)

    assert (ticket.agent, ticket.version) == (bob, 1)
    bob.refresh_from_db()
    assert bob.last_assigned_at >= started
    line = assignment_entry()
    assert (line.was, line.now, line.public) == (1, 1, False)
    assert (line.kind, line.reason) == ("assigned", "")
    assert line.data == {
        "agent": [None, "bob"],
        "rule": "least_busy",
        "loads": {"ada": [1, 50], "bob": [0, 40]},
    }


@pytest.mark.parametrize("status", list(Status))
def test_counts_only_tickets_whose_clock_runs(
    api: APIClient, company: Company, status: Status
) -> None:
    ada, bob = build.agent("ada"), build.agent("bob", last_assigned_at=NOON)
    build.ticket(company, agent=ada, status=status)

    assert opened(api).agent == (bob if status in RUNNING else ada)


def test_skill_is_required_unless_an_agent_chose_none(api: APIClient) -> None:
    build.agent("ada", skills=[4, 5])
    bob = build.agent("bob", skills=[2], last_assigned_at=NOON)

    assert opened(api, 2).agent == bob

    everything = build.agent("eve")
    assert opened(api, 9).agent == everything


@pytest.mark.parametrize("away", ["available", "is_active"])
def test_passes_over_unavailable_agents(api: APIClient, agent: Agent, away: str) -> None:
    Agent.objects.filter(pk=agent.pk).update(available=away != "available")
    User.objects.filter(pk=agent.user_id).update(is_active=away != "is_active")

    ticket = opened(api)

    assert ticket.agent is None
    assert (assignment_entry().kind, assignment_entry().reason) == ("unassigned", "")
    assert assignment_entry().data == {"why": "nobody_available", "loads": {}}


def test_leaves_a_ticket_unassigned_when_all_are_at_capacity(
    api: APIClient, company: Company
) -> None:
    ada = build.agent("ada", capacity=1)
    build.ticket(company, agent=ada)

    ticket = opened(api)

    assert ticket.agent is None
    line = assignment_entry()
    assert (line.kind, line.reason) == ("unassigned", "")
    assert line.data == {"why": "all_at_capacity", "loads": {"ada": [1, 1]}}


def test_assignment_errors_do_not_fail_the_request(
    api: APIClient, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(type_id: int) -> list[int]:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(automatic, "lock_agents", too_late)

    ticket = opened(api)

    assert ticket.agent is None
    assert (assignment_entry().kind, assignment_entry().reason) == ("unassigned", "")
    assert assignment_entry().data == {"why": "lock_timeout", "loads": {}}


def test_finds_agents_later_for_tickets_that_wait_the_most_urgent_first(
    api: APIClient, company: Company
) -> None:
    waiting = [opened(api) for _ in range(3)]
    Ticket.objects.filter(pk=waiting[0].pk).update(due_at=timezone.now() + timedelta(days=99))
    waiting = waiting[1:] + waiting[:1]
    for status in (Status.INCOMPLETE, Status.ACCEPTED):
        build.ticket(company, status=status)
    ada = build.agent("ada", capacity=2)

    jobs.assign_waiting()

    assert list(Ticket.objects.filter(agent=ada).order_by("pk")) == waiting[:2]
    # History records each assignment, but not the failed tries, which come every ten seconds.
    assert HistoryEntry.objects.filter(by="system").count() == 3 + 2
    jobs.assign_waiting()
    assert HistoryEntry.objects.filter(by="system").count() == 3 + 2


def test_does_not_let_a_type_that_nobody_takes_hold_up_the_others(
    api: APIClient, company: Company
) -> None:
    nobody = [opened(api, 9) for _ in range(2)]
    somebody = opened(api, 2)
    ada = build.agent("ada", skills=[2])

    assert automatic.assign_waiting() == 1

    somebody.refresh_from_db()
    assert somebody.agent == ada
    assert list(Ticket.objects.filter(agent=None).order_by("pk")) == nobody


def test_sweep_stops_at_its_limit_and_continues_next_time(
    company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automatic, "MOST_AT_ONCE", 2)
    for _ in range(3):
        build.ticket(company)

    assert [automatic.assign_waiting() for _ in range(3)] == [2, 1, 0]


def test_assignment_is_fair_on_a_quiet_day(company: Company) -> None:
    agents = [build.agent(f"agent-{number}") for number in range(8)]
    received = dict.fromkeys((agent.pk for agent in agents), 0)
    for _ in range(80):
        ticket = build.ticket(company)
        assert automatic.assign(ticket)
        received[ticket.agent_id] += 1
        Ticket.objects.filter(pk=ticket.pk).update(status=Status.ACCEPTED)

    assert max(received.values()) / min(received.values()) <= 1.05


def test_tickets_are_shared_by_capacity(company: Company) -> None:
    capacities = {build.agent(f"agent-{n}", capacity=n * 20).pk: n * 20 for n in (1, 2, 3)}
    for _ in range(90):
        assert automatic.assign(build.ticket(company))

    for agent, capacity in capacities.items():
        share = Ticket.objects.filter(agent=agent).count() / 90
        assert share == pytest.approx(capacity / 120, abs=0.05)
