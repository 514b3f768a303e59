import re
from collections import Counter
from pathlib import Path

import pytest

from tools.dev import words


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""Of a host: its clock."""', [1]),
        ('def pause():\n    """What nobody is to send."""', [2]),
        ('class Host:\n    """Not a name."""', [2]),
        ("x = 1  # whether it lives\ny = 2  # Whether it lives", [2]),
        ("# Keep it:\n# As long as it lives.\n\n# As long as it lives.", [4]),
        ('def pause():\n    """Pause a host."""\n    # Of two, the older one wins.', [3]),
        ('"""Clock of a host."""\nHOST = "Of a host"', []),
    ],
)
def test_openings_that_lack_a_subject_or_a_verb_are_found(source: str, lines: list[int]) -> None:
    assert [found.line for found in words.bad_openings(source)] == lines


def test_names_that_do_not_say_of_what_are_found() -> None:
    source = """
def told(kept, *, agents):
    self.seen = _given = 1
    for found, row in shown.items():
        row.held()
"""

    assert {name.text for name in words.bad_names(source)} == {
        "told",
        "kept",
        "seen",
        "_given",
        "found",
    }


def test_the_glossary_has_no_word_twice() -> None:
    glossary = Path("docs/glossary.md").read_text()
    cells = re.findall(r"^\| ([^|]+) \| (?!meaning|---)", glossary, re.MULTILINE)
    words_with_a_row = Counter(word.strip() for cell in cells for word in cell.split(","))

    assert len(words_with_a_row) > 100
    assert [word for word, rows in words_with_a_row.items() if rows > 1] == []
