"""Days of assignments without a database: fairness, and explanations for people."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import pytest

from tickets.assignment.picking import (
    MOST_LOADS_KEPT,
    AgentLoad,
    explain,
    loads_for_history,
    pick,
)

MORNING = datetime(2026, 3, 4, 8, tzinfo=UTC)
EIGHT = dict.fromkeys(range(1, 9), 50)

Picker = Callable[[list[AgentLoad]], AgentLoad | None]


def day(
    picker: Picker, capacities: dict[int, int], *, tickets: int, open_at_once: int
) -> Counter[int]:
    """Count each agent's tickets on a day; tickets are decided in their order of arrival."""
    loads, last = Counter(), dict.fromkeys(capacities)
    received: Counter[int] = Counter()
    being_worked: deque[int] = deque()
    for minute in range(tickets):
        chosen = picker(
            [AgentLoad(id, str(id), loads[id], most, last[id]) for id, most in capacities.items()]
        )
        if chosen is not None:
            received[chosen.agent_id] += 1
            loads[chosen.agent_id] += 1
            last[chosen.agent_id] = MORNING + timedelta(minutes=minute)
            being_worked.append(chosen.agent_id)
        if len(being_worked) > open_at_once - 1:
            loads[being_worked.popleft()] -= 1
    return received


def jain(shares: Iterable[float]) -> float:
    """Return Jain's index: 1 if all have the same, 1/n if one of n has all."""
    shares = list(shares)
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def tie_by_id(candidates: list[AgentLoad]) -> AgentLoad:
    """Pick as well as ours in every rush, and unfairly on a quiet day."""
    return min(candidates, key=lambda one: (one.load / one.capacity, one.agent_id))


def least_open(candidates: list[AgentLoad]) -> AgentLoad:
    """Pick without regard to capacities."""
    return min(candidates, key=lambda one: (one.load, one.last_assigned_at or MORNING))


def most_to_least(received: Counter[int]) -> float:
    counts = [received[agent] for agent in EIGHT]
    return max(counts) / max(min(counts), 0.5)


def test_is_fair_on_a_quiet_day() -> None:
    received = day(pick, EIGHT, tickets=800, open_at_once=1)

    assert most_to_least(received) <= 1.05
    assert jain(received.values()) >= 0.99


def test_picker_that_breaks_ties_by_id_is_noticed() -> None:
    received = day(tie_by_id, EIGHT, tickets=800, open_at_once=1)

    assert most_to_least(received) > 400
    assert jain([received[agent] for agent in EIGHT]) < 0.2


@pytest.mark.parametrize("open_at_once", [5, 40, 200])
def test_is_fair_on_a_busy_day(open_at_once: int) -> None:
    received = day(pick, EIGHT, tickets=800, open_at_once=open_at_once)

    assert jain(received.values()) >= 0.99


@pytest.mark.parametrize(
    "capacities", [{1: 20, 2: 40, 3: 60}, {1: 10, 2: 100}, {1: 20, 2: 20, 3: 100}]
)
def test_shares_by_capacity_when_there_is_much_to_do(capacities: dict[int, int]) -> None:
    together = sum(capacities.values())

    received = day(pick, capacities, tickets=2000, open_at_once=together * 9 // 10)

    for agent, capacity in capacities.items():
        assert received[agent] / 2000 == pytest.approx(capacity / together, rel=0.05)
    assert jain(received[agent] / most for agent, most in capacities.items()) >= 0.99


def test_picker_that_ignores_capacities_is_noticed() -> None:
    received = day(least_open, {1: 20, 2: 40, 3: 60}, tickets=2000, open_at_once=54)

    assert received[1] / 2000 != pytest.approx(20 / 120, rel=0.05)


def test_never_exceeds_a_capacity() -> None:
    capacities = {1: 3, 2: 1, 3: 0}

    assert day(pick, capacities, tickets=100, open_at_once=1000) == {1: 3, 2: 1}


@pytest.mark.parametrize("open_at_once", [1, 30])
def test_shares_alike_however_the_agents_are_numbered(open_at_once: int) -> None:
    def counts(ids: list[int]) -> list[int]:
        capacities = dict(zip(ids, [10, 10, 20, 40], strict=True))
        received = day(pick, capacities, tickets=500, open_at_once=open_at_once)
        return [received[id] for id in ids]

    def spread(ids: list[int]) -> list[int]:
        # Two equal agents may swap the odd ticket by their ids; nothing else may depend on these.
        first, second, *others = counts(ids)
        assert abs(first - second) <= 1
        return others

    one, *others = (spread(ids) for ids in ([1, 2, 3, 4], [4, 3, 2, 1], [90, 7, 13, 8]))
    for other in others:
        assert other == pytest.approx(one, abs=1)


def test_history_keeps_the_lightest_of_a_large_pool() -> None:
    crowd = [AgentLoad(id, f"a{id:03}", id % 97, 100, None) for id in range(200)]

    stored_loads = loads_for_history(crowd)

    assert len(stored_loads) == MOST_LOADS_KEPT
    assert stored_loads["a000"] == stored_loads["a097"] == [0, 100]
    assert max(load for load, _ in stored_loads.values()) <= 9


def test_explains_why_this_agent_and_not_another() -> None:
    facts = {
        "agent": [None, "cat"],
        "loads": {"ada": [1, 50], "bob": [5, 5], "cat": [1, 50], "dan": [0, 0], "eve": [2, 50]},
    }

    assert explain(facts) == [
        ("cat", 1, 50, "chosen"),
        ("ada", 1, 50, "assigned_later"),
        ("eve", 2, 50, "busier"),
        ("bob", 5, 5, "at_capacity"),
        ("dan", 0, 0, "at_capacity"),
    ]


def test_explains_a_ticket_that_nobody_got_and_one_beyond_a_capacity() -> None:
    assert explain({"loads": {"ada": [5, 5]}}) == [("ada", 5, 5, "at_capacity")]
    assert explain({"agent": ["ada", "bob"], "loads": {"bob": [7, 5]}}) == [("bob", 7, 5, "chosen")]
    assert explain({"variables": {"a": 1}}) == []
    assert explain({"agent": ["ada", None]}) == []
