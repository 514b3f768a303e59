"""`--postgresql FOLDER` works alike for the tests and the benchmarks."""

from pathlib import Path

import pytest

from tools.bench import running
from tools.bench.running import options
from tools.dev import main as launcher
from tools.dev.bootstrap import ROOT
from tools.dev.places import Place
from tools.dev.postgres import PROGRAMS, programs, use_programs
from tools.dev.trouble import UsageError


@pytest.fixture
def place() -> Place:
    return Place(files=ROOT, sockets=ROOT, logs=ROOT, account=None)


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    # Register the variable, so that a test's change is undone.
    monkeypatch.setenv("PG_BIN", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a folder with every program, for whoever runs the tests."""
    for name in PROGRAMS:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.fixture
def as_ourselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.dev.postgres.server_account", lambda: None)


@pytest.mark.usefixtures("no_database", "as_ourselves")
@pytest.mark.parametrize("missing", PROGRAMS)
def test_a_folder_without_a_program_is_refused_by_name(folder: Path, missing: str) -> None:
    (folder / missing).unlink()

    with pytest.raises(UsageError) as refused:
        use_programs(str(folder))

    assert str(refused.value).startswith(f"{folder} is not a folder of PostgreSQL's programs")
    assert f"{missing} cannot be run there" in str(refused.value)


@pytest.mark.usefixtures("no_database", "as_ourselves")
def test_a_folder_with_all_of_them_is_used_from_wherever_one_stands(
    folder: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)

    use_programs(folder.name)

    assert programs(place) == folder


@pytest.mark.usefixtures("no_database")
def test_the_tests_take_the_option_and_leave_the_rest_to_pytest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used, ran = [], []
    monkeypatch.setattr(launcher, "use_programs", used.append)
    monkeypatch.setattr(launcher.os, "execv", lambda _, command: ran.append(command[3:]))
    monkeypatch.setattr(launcher, "guarded", lambda work, **_: work())
    monkeypatch.chdir(ROOT)

    launcher.test(["--postgresql", "/pg/bin", "tests/bench", "-k", "report"])
    launcher.test(["--postgresql=/pg/bin"])

    assert used == ["/pg/bin"] * 2
    assert ran == [["tests/bench", "-k", "report"], launcher.in_parallel()]


def test_a_server_that_is_named_already_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres:///elsewhere")

    with pytest.raises(UsageError, match="unset DATABASE_URL"):
        launcher.test(["--postgresql", "/pg/bin"])


def test_option_without_its_folder_is_reported() -> None:
    with pytest.raises(UsageError, match="--postgresql needs a folder"):
        launcher.test(["--postgresql"])


@pytest.mark.parametrize("name", running.SCENARIOS)
def test_every_benchmark_takes_it(name: str) -> None:
    assert options(name, ["--postgresql", "/pg/bin"]).postgresql == "/pg/bin"


@pytest.mark.usefixtures("no_database")
def test_a_benchmark_on_a_wrong_folder_says_so_and_starts_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = Place(files=tmp_path, sockets=tmp_path, logs=tmp_path, account=None)
    parsed = options("drain", ["--postgresql", str(tmp_path / "nowhere")])

    with pytest.raises(UsageError, match="initdb cannot be run there"):
        running.measure("drain", parsed, place, servers := [])

    assert servers == []
    assert "starting PostgreSQL" not in capfd.readouterr().err
