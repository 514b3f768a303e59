"""The faults of `faults/mutants` fit the code as it is, and what the command makes of them."""

import ast
from pathlib import Path

import pytest

from faults.broken import Mutant
from faults.mutating import FLOORS, MUTANTS, Outcome, Unusable, applied, broken_by, judge_app

ROOT = Path(__file__).resolve().parent.parent
ALL = [(app, mutant) for app, mutants in MUTANTS.items() for mutant in mutants]
BROKEN = Mutant("b", "a.py", "one", "two", "A harm.")


@pytest.mark.parametrize(("app", "mutant"), ALL, ids=[mutant.name for _, mutant in ALL])
def test_every_change_fits(app: str, mutant: Mutant) -> None:
    """Whoever changes the code there changes the fault too."""
    broken = applied(mutant, (ROOT / mutant.file).read_text())

    ast.parse(broken)
    assert mutant.file.startswith(f"{app}/")
    assert mutant.harm


def test_each_has_a_name_of_its_own() -> None:
    assert len({mutant.name for _, mutant in ALL}) == len(ALL)


@pytest.mark.parametrize("source", ["", "one one", "two"])
def test_says_so_where_a_change_does_not_fit(source: str) -> None:
    with pytest.raises(Unusable, match=r"b: its text occurs \d times in a\.py"):
        applied(BROKEN, source)


def test_puts_the_code_back(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("one = 1\n")

    with broken_by(BROKEN, tmp_path):
        assert file.read_text() == "two = 1\n"

    assert file.read_text() == "one = 1\n"


@pytest.mark.parametrize(("missed", "good"), [(0, True), (1, True), (2, False)])
def test_asks_for_nine_in_ten_and_names_the_missed(missed: int, good: bool) -> None:
    told: list[str] = []
    outcomes = [Outcome(BROKEN, "" if n < missed else "tests/a.py::test_a") for n in range(10)]

    assert judge_app("deliveries", outcomes, told.append) is good

    assert set(FLOORS.values()) == {0.9}
    assert told[0] == f"deliveries: caught {10 - missed}/10"
    assert told[1:] == ["  missed b (a.py): A harm."] * missed
