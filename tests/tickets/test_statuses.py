import re
from pathlib import Path

import pytest

from tickets.statuses import (
    ACCEPTING,
    AGENT_MOVES,
    BLOCKING,
    CLAIMS,
    FOLLOWED_UP,
    FOLLOWED_UP_BY_COMMENT,
    NOTIFYING,
    OPEN,
    REQUESTING,
    RUNNING,
    TERMINAL,
    WAITING_FOR_COMPANY,
    WAITING_FOR_OTHERS,
    By,
    Colour,
    Status,
    allows,
    joined,
    labels,
    listed,
    needs_reason,
)

ROOT = Path(__file__).resolve().parents[2]

# Rows: from. Columns: to, in the order of the ids. Written by hand from the interface and decisions
# T2 and T3: c company, a agent (and lead), l lead only, s agent, lead and automations.
TABLE = """
        1   2   3   4   5   6   10
    1   .   a   a   a   .   a   c
    2   .   .   .   .   .   l   .
    3   .   .   .   .   .   l   .
    4   c   a   s   .   c   a   c
    5   c   a   a   a   .   a   c
    6   c   a   a   a   c   .   c
    10  c   a   a   a   .   a   .
"""
WHO = {"c": {By.COMPANY}, "a": {By.AGENT, By.LEAD}, "l": {By.LEAD}, ".": set()}
WHO["s"] = {By.AGENT, By.LEAD, By.SYSTEM}


def cells() -> list[tuple[int, int, set[By]]]:
    header, *rows = [line.split() for line in TABLE.strip().splitlines()]
    return [
        (int(row[0]), int(to), WHO[cell])
        for row in rows
        for to, cell in zip(header, row[1:], strict=True)
    ]


@pytest.mark.parametrize(("current", "target", "who"), cells())
def test_lets_move_exactly_who_the_table_says(current: int, target: int, who: set[By]) -> None:
    assert {by for by in By if allows(Status(current), Status(target), by)} == who


def test_the_table_has_a_row_and_a_column_for_each_status() -> None:
    header, *rows = [line.split() for line in TABLE.strip().splitlines()]

    for numbers in (header, [row[0] for row in rows]):
        assert numbers == [str(one.value) for one in sorted(Status)], "add what is missing to TABLE"


def test_knows_those_written_here_and_no_others() -> None:
    """Compare with a table written by hand: a new status needs an entry in each of them."""
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
    wanted = {(origin, to) for origin in Status for to in Status if needs_reason(origin, to)}

    assert {to for origin, to in wanted if origin not in TERMINAL} == {
        Status.DECLINED,
        Status.INCOMPLETE,
    }
    assert {(origin, to) for origin, to in wanted if origin in TERMINAL} >= {
        (Status.ACCEPTED, Status.IN_REVIEW),
        (Status.DECLINED, Status.IN_REVIEW),
    }


# Written by hand as well, from the interface and decisions T2, T3, T11 and T18.
SETS = {
    "open": (OPEN, {1, 4, 5, 6, 10}),
    "terminal": (TERMINAL, {2, 3}),
    "running": (RUNNING, {1, 5, 6, 10}),
    "waiting for the company": (WAITING_FOR_COMPANY, {4}),
    "waiting for others": (WAITING_FOR_OTHERS, set()),
    "blocking": (BLOCKING, {1, 3, 5, 6}),
    "accepting": (ACCEPTING, {2}),
    "claims": (CLAIMS, {10}),
    "followed up": (FOLLOWED_UP, {4, 6}),
    "followed up by a comment": (FOLLOWED_UP_BY_COMMENT, {6}),
    "told to the company": (NOTIFYING, {2, 3, 4}),
    "asking for documents": (REQUESTING, {4}),
}


@pytest.mark.parametrize(("statuses", "wanted"), SETS.values(), ids=SETS)
def test_derives_its_sets_from_the_table(statuses: frozenset[Status], wanted: set[int]) -> None:
    assert statuses == wanted, "SETS of this file: write by hand what the row is meant to say"


def test_a_comment_leads_only_where_a_request_could() -> None:
    assert FOLLOWED_UP_BY_COMMENT <= FOLLOWED_UP


def test_offers_the_moves_of_agents_in_their_order() -> None:
    assert {to.value: (move.verb, move.key) for to, move in AGENT_MOVES.items()} == {
        2: ("Accept", "a"),
        3: ("Decline", "d"),
        4: ("Request information", "i"),
        6: ("Review", "v"),
    }


def test_status_is_an_integer() -> None:
    assert Status(4) is Status.INCOMPLETE
    assert (Status.INCOMPLETE == 4, Status.PENDING < 2, f"{Status.DECLINED}") == (True, True, "3")
    assert {4: "x"}[Status.INCOMPLETE] == "x"


@pytest.mark.parametrize("colour", Colour)
def test_the_style_sheet_has_a_rule_for_each_colour(colour: Colour) -> None:
    sheet = (ROOT / "desk" / "static" / "desk" / "desk.css").read_text()

    (rule,) = re.findall(rf"^\.desk-tint-{colour} {{ (.*) }}$", sheet, re.MULTILINE)
    assert re.findall(r"(--desk-tint[a-z-]*):", rule) == [
        "--desk-tint",
        "--desk-tint-soft",
        "--desk-tint-line",
    ]


def test_nothing_that_draws_pages_knows_a_status_by_its_name_or_number() -> None:
    names = "|".join(re.escape(name) for one in Status for name in {one.slug, dashed(one)})
    pattern = re.compile(rf"[-'\"]({names})\b|status == \d|to\.value == \d")
    static, templates = ROOT / "desk" / "static", ROOT / "templates"
    files = [*static.rglob("*.css"), *static.rglob("*.js"), *templates.rglob("*.html")]

    assert len(files) > 20
    assert {
        path.name: matches for path in files if (matches := pattern.findall(path.read_text()))
    } == {}


def dashed(status: Status) -> str:
    return status.slug.replace("_", "-")


def test_the_desk_asks_for_properties_and_never_names_a_status() -> None:
    names = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "desk").rglob("*.py")
        if "migrations" not in path.parts
        for name in re.findall(r"\bStatus\.[A-Z_]+", path.read_text())
    ]
    assert names == []


def test_names_statuses_in_sentences() -> None:
    assert listed({Status.FOLLOW_UP, Status.PENDING}) == "1 Pending, 5 Follow up"
    assert labels(BLOCKING) == ["Pending", "Follow up", "In review", "Declined"]
    assert joined([1, 5, 10], "or") == "1, 5 or 10"
    assert joined(["Accepted", "Declined"], "and") == "Accepted and Declined"
    assert joined(["one"], "and") == "one"
