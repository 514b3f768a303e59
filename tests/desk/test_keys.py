"""The keys that the manual and the pages' own help tell of are those that the scripts know."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "desk" / "static" / "desk"
TEMPLATES = ROOT / "templates"
# What the scripts and the browser do outside of the maps: tests/browser presses these.
BESIDE = {"Enter", "Esc", "Ctrl", "Ctrl+Enter", "g", "q"}
PLACES = [
    (1, "list.js", "desk/list_head.html"),
    (2, "ticket.js", "admin/tickets/ticket/keys.html"),
]


def known(script: str) -> set[str]:
    """The letters of the script's map of keys."""
    text = (SCRIPTS / script).read_text()
    found = re.search(
        r"const keys = \{(.*?)^\s*\};", text, re.DOTALL | re.MULTILINE | re.IGNORECASE
    )
    return set(re.findall(r'(?:^|[\s{,])"?([^\s"])"?: \(\) =>', found[1]))


def told(place: int) -> set[str]:
    """The keys of the manual's table that do something in this place."""
    section = (ROOT / "docs" / "desk.md").read_text().split("\n## Keys\n")[1].split("\n## ")[0]
    rows = [row.strip("|").split("|") for row in section.splitlines() if row.startswith("| `")]
    return {key for row in rows if row[place].strip() for key in re.findall(r"`(.+?)`", row[0])}


@pytest.mark.parametrize(("place", "script", "help"), PLACES)
def test_the_keys_told_are_those_there_are(place: int, script: str, help: str) -> None:
    shown = set(re.findall(r"<kbd>(.+?)</kbd>", (TEMPLATES / help).read_text()))

    assert len(known(script)) > 5
    assert told(place) - BESIDE == known(script)
    assert shown - BESIDE == known(script)
