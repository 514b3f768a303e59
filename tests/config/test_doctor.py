"""The command `doctor`: a line for each check with its cure, and nothing that hangs stops it."""

import json
import re
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config.management.commands import doctor as command
from core.data import database
from core.watch import doctor
from core.watch.doctor import Check, Finding, Grade

FAIL = Grade.FAIL


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that replaces all checks by those given."""
    monkeypatch.setattr(database, "wait_at_most", lambda seconds: None)

    def replace(*checks: Check) -> None:
        monkeypatch.setattr(doctor, "all_checks", lambda: list(checks))

    return replace


def fine() -> str:
    return "as it should be"


def odd() -> str:
    raise doctor.Concern("somewhat odd\nwith details")


def broken() -> str:
    raise RuntimeError("broken\nwith details")


def run_doctor(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("doctor", *options, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_each_check_is_a_line_and_its_cure_is_below(only: Callable[..., None]) -> None:
    only(
        Check("first", fine, "Do nothing.", 5),
        Check("second_one", odd, "Look at it.", 5),
        Check("third", broken, "Mend it.", 5),
    )

    code, text = run_doctor()

    assert code == 1
    assert text.splitlines() == [
        "ok    first       as it should be",
        "warn  second_one  somewhat odd",
        "                  Look at it.",
        "fail  third       broken",
        "                  Mend it.",
    ]


def test_a_warning_is_no_failure(only: Callable[..., None]) -> None:
    only(Check("first", odd, "Look at it.", 5))

    assert run_doctor()[0] == 0


def test_programs_read_json(only: Callable[..., None]) -> None:
    only(Check("first", fine, "Do nothing.", 5), Check("third", broken, "Mend it.", 5))

    code, text = run_doctor("--json")

    assert (code, json.loads(text)) == (
        1,
        {
            "ok": False,
            "checks": [
                {"name": "first", "grade": "ok", "detail": "as it should be", "cure": ""},
                {"name": "third", "grade": "fail", "detail": "broken", "cure": "Mend it."},
            ],
        },
    )


def test_hanging_check_delays_no_other_and_fails(only: Callable[..., None]) -> None:
    over = threading.Event()
    hung = [Check(f"hung-{n}", lambda: f"{over.wait(30)}", "Kill it.", 0.2) for n in range(20)]
    only(*hung, Check("first", fine, "Do nothing.", 5))

    code, text = run_doctor("--json")
    over.set()

    results = [Finding(*each.values()) for each in json.loads(text)["checks"]]
    assert code == 1
    assert {each.detail for each in results if each.grade == FAIL} == {"has not answered for 0.2 s"}
    assert results[-1].detail == "as it should be"


@pytest.mark.django_db
def test_all_checks_run_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "wait_at_most", lambda seconds: None)

    _, text = run_doctor("--json")

    checks = json.loads(text)["checks"]
    assert [each["name"] for each in checks] == [check.name for check in doctor.all_checks()]
    assert [each for each in checks if "has not answered" in each["detail"]] == []


def test_the_manual_names_every_check() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
    table = manual.partition("\n## Doctor\n")[2].partition("\n## ")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [
        check.name for check in doctor.all_checks()
    ]


def test_only_those_that_are_named_are_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.data.database.wait_at_most", lambda seconds: None)

    _, text = run_doctor("--only", "outgoing_tls", "open_files")

    assert {line.split()[1] for line in text.splitlines() if line[0] != " "} == {
        "outgoing_tls",
        "open_files",
    }
    with pytest.raises(CommandError, match="There is no check clok"):
        command.chosen_checks(["clok"])
