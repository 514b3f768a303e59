"""The keys in the manual and in the pages' help are exactly those that work.

The scripts have a map of their own keys. The keys of the moves come from the table of statuses.
"""

import re
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from tickets.statuses import AGENT_MOVES

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "desk" / "static" / "desk"
TEMPLATES = ROOT / "templates"
# Keys outside of the maps, handled by scripts or the browser: tests/browser presses these.
BESIDE = {"Enter", "Esc", "Ctrl", "Ctrl+Enter", "Ctrl+K", "g", "q", "z"}
MOVES = {move.key: move.verb.lower() for move in AGENT_MOVES.values()}
PLACES = [
    (1, "list.js", "desk/list_keys.html", set(MOVES)),
    (2, "ticket.js", "admin/tickets/ticket/keys.html", set(MOVES)),
]


def script_keys(script: str) -> set[str]:
    """Return the letters in the script's own map of keys."""
    text = (SCRIPTS / script).read_text()
    match = re.search(
        r"const keys = \{(.*?)^\s*\};", text, re.DOTALL | re.MULTILINE | re.IGNORECASE
    )
    return set(re.findall(r'(?:^|[\s{,])"?([^\s"])"?: \(\) =>', match[1]))


def rows() -> list[list[str]]:
    """Return the cells of the manual's table of keys, row by row."""
    section = (ROOT / "docs" / "desk.md").read_text().split("\n## Keys\n")[1].split("\n## ")[0]
    return [row.strip("|").split("|") for row in section.splitlines() if row.startswith("| `")]


def manual_keys(place: int) -> set[str]:
    """Return the keys of the manual's table that do something in this place."""
    return {key for row in rows() if row[place].strip() for key in re.findall(r"`(.+?)`", row[0])}


def help_keys(template: str) -> set[str]:
    """Return the keys in the page's own help for somebody who works tickets."""
    text = (TEMPLATES / template).read_text()
    if "agent_moves" in text:
        action = () if "key, verb in" in text else ("action",)
        moves = [(move.key, move.verb, *action) for move in AGENT_MOVES.values()]
        context = {"may_work": True, "agent_moves": moves}
        text = render_to_string(template, context)
    return set(re.findall(r"<kbd>(.+?)</kbd>", text))


@pytest.mark.parametrize(("place", "script", "help", "moves"), PLACES)
def test_documented_keys_are_the_working_ones(
    place: int, script: str, help: str, moves: set[str]
) -> None:
    assert len(script_keys(script)) >= 5
    there = script_keys(script) | moves
    assert manual_keys(place) - BESIDE == there, (
        "docs/desk.md, the table under Keys: a row for each key"
    )
    assert help_keys(help) - BESIDE == there, f"templates/{help}: name each key"


def test_manual_lists_the_keys_of_the_moves() -> None:
    manual_rows = {row[0].strip(" `"): row[2].strip() for row in rows()}

    assert {key: manual_rows.get(key) for key in MOVES} == MOVES, (
        "docs/desk.md, the table under Keys: the key and the verb of each move"
    )


def test_no_move_takes_a_key_that_means_something_else() -> None:
    others = script_keys("ticket.js") | BESIDE

    free = sorted(set("abcdefghijklmnopqrstuvwxyz") - others - set(MOVES))
    what_to_do = f"tickets/statuses.py: give each move a key of its own; {free} are free"
    assert len(MOVES) == len(AGENT_MOVES), what_to_do
    assert set(MOVES) & others == set(), what_to_do
    assert [key for key in MOVES if not re.fullmatch("[a-z]", key)] == [], what_to_do
