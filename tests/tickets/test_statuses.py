import pytest

from tickets.statuses import TERMINAL, By, Status, allows, needs_reason

# Rows: from. Columns: to, in the order of the ids. Written by hand from the interface and
# decisions T2 and T3: c company, a agent (and lead), l lead only.
TABLE = """
        1   2   3   4   5   6   10
    1   .   a   a   a   .   a   c
    2   .   .   .   .   .   l   .
    3   .   .   .   .   .   l   .
    4   c   a   a   .   c   a   c
    5   c   a   a   a   .   a   c
    6   c   a   a   a   c   .   c
    10  c   a   a   a   .   a   .
"""
WHO = {"c": {By.COMPANY}, "a": {By.AGENT, By.LEAD}, "l": {By.LEAD}, ".": set()}


def cells() -> list[tuple[int, int, set[By]]]:
    header, *rows = [line.split() for line in TABLE.strip().splitlines()]
    return [
        (int(row[0]), int(to), WHO[cell])
        for row in rows
        for to, cell in zip(header, row[1:], strict=True)
    ]


@pytest.mark.parametrize(("current", "target", "who"), cells())
def test_lets_move_exactly_who_the_table_says(current: int, target: int, who: set[By]) -> None:
    movers = (By.COMPANY, By.AGENT, By.LEAD)

    assert {by for by in movers if allows(Status(current), Status(target), by)} == who


def test_knows_seven_statuses_and_no_others() -> None:
    assert {status.value: status.slug for status in Status} == {
        1: "pending",
        2: "accepted",
        3: "declined",
        4: "incomplete",
        5: "follow_up",
        6: "in_review",
        10: "claim_in_review",
    }


def test_wants_a_reason_to_decline_to_ask_for_more_and_to_reopen() -> None:
    wanted = {(was, to) for was in Status for to in Status if needs_reason(was, to)}

    assert {to for was, to in wanted if was not in TERMINAL} == {
        Status.DECLINED,
        Status.INCOMPLETE,
    }
    assert {(was, to) for was, to in wanted if was in TERMINAL} >= {
        (Status.ACCEPTED, Status.IN_REVIEW),
        (Status.DECLINED, Status.IN_REVIEW),
    }
