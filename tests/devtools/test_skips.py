"""A run lists the tests that it skipped, and `--whole` treats no skip as success."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import packages, program
from tools.dev.bootstrap import ROOT
from tools.dev.pytest_skips import NO_REGISTRY, ONLY_SLOW, ONLY_WHOLE

SKIPS = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_a(n):
    pytest.skip("no dragon: apt-get install dragon")

def test_b():
    pass
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(SKIPS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tools.dev.pytest_skips", "-p", "no:valkey"]
    folders = [] if arguments and arguments[0].startswith(str(folder)) else [str(folder)]
    plain = [*command, "-p", "no:django", "--rootdir", str(folder), *folders]
    return subprocess.run([*plain, *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("ways", [[], ["-n", "2"]], ids=["one process", "two"])
def test_the_run_ends_with_what_was_skipped_and_why(tmp_path: Path, ways: list[str]) -> None:
    ran = run(tmp_path, *ways)

    assert ran.returncode == 0, ran.stdout
    assert "    3  no dragon: apt-get install dragon\n" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("ways", [[], ["-n", "2"]], ids=["one process", "two"])
def test_a_whole_run_fails_on_a_skip(tmp_path: Path, ways: list[str]) -> None:
    ran = run(tmp_path, "--whole", *ways)

    assert ran.returncode == 1, ran.stdout
    assert "    3  no dragon: apt-get install dragon\n" in ran.stdout


def test_a_whole_run_without_a_skip_passes(tmp_path: Path) -> None:
    assert run(tmp_path, "--whole", "-k", "test_b").returncode == 0


def test_a_test_that_takes_minutes_runs_in_a_whole_run_only(tmp_path: Path) -> None:
    (tmp_path / "test_long.py").write_text(
        "import pytest\n\n@pytest.mark.whole\ndef test_c():\n    assert False\n"
    )

    ran, whole = run(tmp_path, "-k", "test_c"), run(tmp_path, "--whole", "-k", "test_c")

    assert (ran.returncode, whole.returncode) == (0, 1)
    assert f"    1  {ONLY_WHOLE}\n" in ran.stdout
    assert "1 failed" in whole.stdout


@pytest.mark.slow
@pytest.mark.parametrize("ways", [[], ["-n", "2"]], ids=["one process", "two"])
def test_slow_tests_run_by_themselves_by_name_and_in_a_whole_run(
    tmp_path: Path, ways: list[str]
) -> None:
    (tmp_path / "test_slow.py").write_text(
        "import pytest\n\n@pytest.mark.slow\ndef test_s():\n    assert False\n"
    )

    ran = run(tmp_path, "-k", "test_s or test_b", *ways)
    single = run(tmp_path, f"{tmp_path / 'test_slow.py'}::test_s", *ways)
    slow = run(tmp_path, "--slow", *ways)
    whole = run(tmp_path, "--whole", "-k", "test_s or test_b", *ways)

    assert ran.returncode == 0
    assert f"    1  {ONLY_SLOW}\n" in ran.stdout
    assert "1 passed" in ran.stdout
    assert "1 failed" in single.stdout
    # Tests without the mark do not run, and do not count as skipped.
    assert re.search(r"^=+ 1 failed(, 4 deselected)? in", slow.stdout, re.MULTILINE)
    assert "1 failed, 1 passed" in whole.stdout


def test_a_whole_run_accepts_that_npm_has_no_registry(tmp_path: Path) -> None:
    (tmp_path / "test_npm.py").write_text(
        f"import pytest\n\ndef test_d():\n    pytest.skip({NO_REGISTRY!r})\n"
    )

    ran = run(tmp_path, "--whole", "-k", "test_d")

    assert ran.returncode == 0, ran.stdout
    assert f"    1  {NO_REGISTRY}\n" in ran.stdout


def test_every_package_says_what_it_brings_and_what_for() -> None:
    programs = dict(packages())

    assert programs["chromium"] == ["chromium", "chromium-browser", "google-chrome"]
    assert programs["php-cli"] == ["php"]


def test_a_program_of_no_package_is_a_mistake_and_no_skip() -> None:
    with pytest.raises(LookupError, match=r"dragon is not in .*packages\.txt"):
        program("dragon")
