"""Files that other tools read: the hook before a commit, and the platform's workflow."""

import os
import re
from typing import Any

import pytest
import yaml

from tools.dev.bootstrap import ROOT
from tools.dev.run import procfile


def load(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def test_the_hook_runs_our_own_tools_and_fetches_none() -> None:
    repositories = load(".pre-commit-config.yaml")["repos"]
    hooks = [hook for each in repositories for hook in each["hooks"]]

    assert [each["repo"] for each in repositories] == ["local"]
    assert [(hook["entry"], hook["language"]) for hook in hooks] == [("./dev lint", "system")]


def test_the_workflow_runs_what_ci_runs_and_nothing_else() -> None:
    (job,) = load(".github/workflows/test.yml")["jobs"].values()
    ran = [(step["run"], step["env"]) for step in job["steps"] if "run" in step]

    assert ran == [(".ci/run", {"CI": "true"})]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_ci_runs_what_the_readme_says_and_then_the_slow_tests() -> None:
    last = (ROOT / ".ci" / "run").read_text().splitlines()[-2:]

    assert last == ["./dev test", "exec ./dev test --slow"]
    assert "\n./dev test  " in (ROOT / "README.md").read_text()


def test_every_program_that_reads_procfiles_reads_ours_alike() -> None:
    """Read lines as foreman and honcho do: a name, a colon, a command; they skip other lines."""
    lines = (ROOT / "Procfile").read_text().splitlines()
    matches = [re.fullmatch(r"([A-Za-z0-9_-]+):\s*(\S.*)", line) for line in lines]

    assert None not in matches
    assert {match[1]: match[2] for match in matches} == procfile()
    assert list(procfile()) == ["release", "web", "worker"]


@pytest.mark.parametrize("name", ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"])
def test_a_repository_s_usual_pages_are_there(name: str) -> None:
    assert (ROOT / name).read_text().startswith("# ")
