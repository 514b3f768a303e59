"""`tools/faults/run all`: the entries of its catalogue, and its verdicts on played faults."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_architecture import LINE, ROOT, sources
from tools.faults import playing
from tools.faults.book import BOOK
from tools.faults.book.fault import Fault
from tools.faults.catalogue import SCENARIOS
from tools.faults.environment import environment
from tools.faults.hostile.names import COMPANY_ATTACKS, STRANGER_ATTACKS
from tools.faults.plays import SEEDED, SIZES, TESTS, Played, read_report

SIZE = {"A": 19, "B": 11, "C": 12, "D": 6, "E": 8, "F": 48, "G": 12, "H": 5}


def test_it_is_complete_and_in_order() -> None:
    numbers = [f"{group}{number}" for group, size in SIZE.items() for number in range(1, size + 1)]

    assert [fault.number for fault in BOOK] == numbers


@pytest.mark.parametrize("fault", BOOK, ids=[fault.number for fault in BOOK])
def test_each_is_played_or_says_why_not(fault: Fault) -> None:
    attacks = {*COMPANY_ATTACKS, *STRANGER_ATTACKS}

    assert bool(fault.plays) != bool(fault.why_not)
    for play in fault.plays:
        if play.startswith(TESTS):
            assert_is_a_test(play)
        else:
            scenario, _, attack = play.partition(" ")
            assert scenario in SCENARIOS
            assert not attack or attack in attacks


def assert_is_a_test(play: str) -> None:
    file, _, name = play.partition("::")
    text = (ROOT / file).read_text()
    function, _, parameter = name.rstrip("]").partition("[")
    if function:
        assert function in {
            node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
        }
    assert not parameter or f'"{parameter}"' in text


def test_sizes_and_seeds_are_of_scenarios_that_take_them() -> None:
    for name, arguments in SIZES.items():
        options = {argument.removeprefix("--") for argument in arguments[::2]}
        assert options <= set(SCENARIOS[name][1])
    assert {name for name in SEEDED if "seed" in SCENARIOS[name][1]} == SEEDED


SURVIVED, FAILED = Fault("A1", "kept", ("kept",)), Fault("A2", "broken", ("kept", "broken"))
PARTLY = Fault("B1", "partly here", ("kept", "elsewhere"))
NEVER, NOTHING = Fault("B2", "never here", why_not="no clock"), Fault("B3", "forgotten")
STUBS = {
    "kept": Played(),
    "broken": Played(("lost is 3", "late")),
    "elsewhere": Played(why_not="not as root"),
}


def test_counts_what_was_played_and_names_the_rest() -> None:
    lines: list[str] = []
    faults = [SURVIVED, FAILED, PARTLY, NEVER, NOTHING]

    outcomes = playing.play_all(faults, STUBS.__getitem__, lines.append)

    assert playing.summary(outcomes) == [
        "not played: B1 partly here: not as root",
        "not played: B2 never here: no clock",
        "not survived: A2 broken",
        "  broken: lost is 3",
        "  broken: late",
        "not survived: B3 forgotten",
        "  nothing plays it",
        "survived 1/3",
    ]
    assert lines == [
        "[1/5] A1 kept: survived",
        "[2/5] A2 broken: NOT SURVIVED",
        "[3/5] B1 partly here: not played",
        "[4/5] B2 never here: not played",
        "[5/5] B3 forgotten: NOT SURVIVED",
    ]


def test_tells_the_same_as_json() -> None:
    outcomes = playing.play_all([SURVIVED, FAILED], STUBS.__getitem__, lambda line: None)

    output = json.loads(json.dumps(playing.as_json(outcomes)))

    assert (output["survived"], output["of"]) == (1, 2)
    assert output["faults"][1] == {
        "number": "A2",
        "what": "broken",
        "outcome": "not survived",
        "broken": ["broken: lost is 3", "broken: late"],
        "why_not": "",
    }


REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_one[x y]"/>
<testcase classname="tests.a" name="test_one[z]">
<failure message="assert 1 == 2&#10;more"/></testcase>
<testcase classname="tests.a" name="test_two"><skipped message="no network"/></testcase>
</testsuite></testsuites>"""


def test_reads_what_became_of_tests(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    names = ["test_one[x y]", "test_one", "test_two", "test_three"]

    outcomes = read_report(report, [f"tests/a.py::{name}" for name in names])

    assert list(outcomes.values()) == [
        Played(),
        Played(("assert 1 == 2",)),
        Played(why_not="no network"),
        Played(("it did not run",)),
    ]
    assert read_report(tmp_path / "none.xml", ["tests/a.py"]) == {
        "tests/a.py": Played(("it did not run",))
    }


def test_no_task_is_sent_for_later() -> None:
    """Store due times in rows: a message that waits in the broker may be lost or repeated."""
    later = re.compile(r"\b(countdown|eta)\s*=|\.retry\(")
    sending = [path for app in LINE for path in sources(app) if later.search(path.read_text())]

    assert sending == []


def test_what_a_killed_program_leaves_behind_lies_in_the_folder_of_the_run(tmp_path: Path) -> None:
    """Remove it with the run: nobody else removes a folder of Celery's pool after a kill."""
    result = subprocess.run(
        [sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp())"],
        env=environment(database="", broker="", cache="", folder=tmp_path),
        check=True,
        capture_output=True,
        text=True,
    )

    assert Path(result.stdout.strip()).parent == tmp_path
