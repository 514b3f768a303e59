import ast
import os
import subprocess

import pytest

from tests.programs import without_set_up
from tools.dev.bootstrap import COMMANDS, ROOT


def dev(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [ROOT / "dev", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | variables,
    )
    result.stderr = without_set_up(result.stderr)
    return result


def test_help_names_every_command_on_stdout() -> None:
    result = dev("help")

    assert result.returncode == 0
    assert result.stderr == ""
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout


def test_without_a_command_it_shows_the_usage_and_fails() -> None:
    result = dev()

    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("usage: ./dev COMMAND")


def test_a_mistyped_command_is_one_line_that_names_the_right_ones() -> None:
    result = dev("rnu")

    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == (
        "dev: no command 'rnu'; there are run, test, manage, lint, translate, openapi,"
        " schemathesis, simulate and help\n"
    )


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("run", "run takes no arguments"),
        ("lint", "lint takes no arguments"),
        ("openapi", "openapi takes no arguments"),
        ("translate", "Django has no language --fast"),
    ],
)
def test_an_argument_too_many_is_one_line(command: str, refusal: str) -> None:
    result = dev(command, "--fast")

    assert result.returncode == 1
    assert result.stderr.startswith(f"dev: {refusal}")
    assert result.stderr.count("\n") == 1


def test_a_data_folder_that_cannot_be_written_is_one_line_naming_it() -> None:
    result = dev("manage", "check", DATA_DIR="/dev/null/data")

    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == ("dev: DATA_DIR /dev/null/data cannot be written to: Not a directory\n")


def test_an_old_python_can_read_the_launcher_to_the_line_that_turns_it_away() -> None:
    source = (ROOT / "dev").read_text()

    tree = ast.parse(source, feature_version=(3, 5))

    check = next(node for node in tree.body if isinstance(node, ast.If))
    before = tree.body[: tree.body.index(check)]
    imported = [
        alias.name for node in before if isinstance(node, ast.Import) for alias in node.names
    ]
    assert imported == ["signal", "sys"]
