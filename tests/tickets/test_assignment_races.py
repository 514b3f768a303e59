"""Assignment with real threads and locks: its guarantees when many requests come at once."""

from collections import Counter
from functools import partial
from threading import Barrier, Event

import pytest
from django.db import connections, transaction

from companies.models import Company
from tests import builders as build
from tests.tickets.racing import PATIENCE_SECONDS, Racers, racers
from tests.waiting import wait_until
from tickets.assignment import automatic
from tickets.assignment.automatic import assign, assign_waiting
from tickets.changes.actors import Actor
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.opening import open_ticket
from tickets.statuses import By

pytestmark = pytest.mark.usefixtures("rows_to_keep")
CALLER = Actor(By.COMPANY, "test")


@pytest.fixture
def acme(transactional_db: None) -> Company:
    return build.company()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the lock timeout: on a busy machine sixteen in a row exceed a caller's."""
    monkeypatch.setattr(automatic, "LOCK_TIMEOUT", f"{PATIENCE_SECONDS}s")


def burst(together: Racers, company: Company, number: int = 16) -> Counter:
    """Open tickets at the same time; count how many each agent (or nobody) got."""
    opening = partial(open_ticket, company, CALLER, type_id=2)
    return Counter(ticket.agent_id for ticket in together.run([opening] * number))


def worst_piles(company: Company, rounds: int) -> list[int]:
    build_agents(8)
    piles = []
    with racers(16) as together:
        for _ in range(rounds):
            piles.append(max(burst(together, company).values()))
            Ticket.objects.update(status=2)
    return piles


def build_agents(number: int, **changes: int) -> list[Agent]:
    return [build.agent(f"agent-{place}", **changes) for place in range(number)]


def test_shares_a_burst_of_sixteen_over_eight_agents(acme: Company) -> None:
    assert worst_piles(acme, rounds=30) == [2] * 30


def test_picker_without_a_lock_is_noticed(acme: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    all_there = Barrier(16)

    def look_only(type_id: int) -> list[int]:
        # Wait for all threads: a busy machine might run them one after the other.
        all_there.wait(PATIENCE_SECONDS)
        return list(Agent.objects.taking(type_id).values_list("pk", flat=True))

    monkeypatch.setattr(automatic, "lock_agents", look_only)

    assert max(worst_piles(acme, rounds=3)) > 2


def test_never_exceeds_a_capacity(acme: Company) -> None:
    agents = build_agents(4, capacity=3)
    with racers(16) as together:
        got = burst(together, acme)

    assert got == {**{agent.pk: 3 for agent in agents}, None: 4}


def test_several_sweeps_assign_each_ticket_once(acme: Company) -> None:
    waiting = [build.ticket(acme) for _ in range(40)]
    agents = build_agents(8)
    with racers(8) as together:
        assert sum(together.run([assign_waiting] * 8)) == 40

    assert HistoryEntry.objects.filter(by="system").count() == len(waiting)
    assert Counter(Ticket.objects.values_list("agent", flat=True)) == {
        agent.pk: 5 for agent in agents
    }


def test_agent_who_left_gets_nothing_more(acme: Company) -> None:
    agents = build_agents(4)
    leaver = agents[0]
    left_event = Event()

    def keep_opening() -> None:
        while not left_event.wait(0.001):
            open_ticket(acme, CALLER, type_id=2)
        open_ticket(acme, CALLER, type_id=2)

    def leave() -> int:
        try:
            wait_until(Ticket.objects.filter(agent=leaver).exists, "a ticket of who is leaving")
            Agent.objects.filter(pk=leaver.pk).update(available=False)
            return Ticket.objects.filter(agent=leaver).count()
        finally:
            left_event.set()

    with racers(4) as together:
        *_, count_at_leave = together.run([keep_opening] * 3 + [leave])

    assert Ticket.objects.filter(agent=leaver).count() == count_at_leave
    assert Ticket.objects.exclude(agent=leaver).count() > 0


def test_leaves_the_ticket_to_the_sweep_when_the_agents_stay_locked(
    acme: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automatic, "LOCK_TIMEOUT", "50ms")
    build_agents(2)
    locked, opened = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            list(Agent.objects.select_for_update().order_by("pk"))
            locked.set()
            opened.wait(PATIENCE_SECONDS)

    def come_late() -> Ticket:
        locked.wait(PATIENCE_SECONDS)
        try:
            return open_ticket(acme, CALLER, type_id=2)
        finally:
            opened.set()

    with racers(2) as together:
        _, ticket = together.run([hold, come_late])

    assert ticket.agent is None
    assert HistoryEntry.objects.get(by="system").data["why"] == "lock_timeout"
    assert assign_waiting() == 1


def test_crash_between_lock_and_commit_leaves_nothing(acme: Company) -> None:
    (agent,) = build_agents(1)

    def die() -> None:
        with transaction.atomic():
            ticket = open_ticket(acme, CALLER, type_id=2)
            assert ticket.agent == agent
            connections["default"].connection.close()

    with racers(1) as together, pytest.raises(Exception, match="closed"):
        together.run([die])

    agent.refresh_from_db()
    assert agent.last_assigned_at is None
    assert not Ticket.objects.exists()
    assert not HistoryEntry.objects.exists()
    assert assign(build.ticket(acme))
