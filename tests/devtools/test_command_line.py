import ast
import os
import subprocess

import pytest

from tests.programs import without_set_up
from tools.dev.bootstrap import COMMANDS, ROOT


def dev(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    asked = subprocess.run(
        [ROOT / "dev", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | variables,
    )
    asked.stderr = without_set_up(asked.stderr)
    return asked


def test_help_names_every_command_on_stdout() -> None:
    asked = dev("help")

    assert asked.returncode == 0
    assert asked.stderr == ""
    for command in COMMANDS:
        assert f"\n  {command} " in asked.stdout


def test_without_a_command_it_shows_the_usage_and_fails() -> None:
    asked = dev()

    assert asked.returncode == 1
    assert asked.stdout == ""
    assert asked.stderr.startswith("usage: ./dev COMMAND")


def test_a_mistyped_command_is_one_line_that_names_the_right_ones() -> None:
    asked = dev("rnu")

    assert asked.returncode == 1
    assert asked.stdout == ""
    assert asked.stderr == (
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
    asked = dev(command, "--fast")

    assert asked.returncode == 1
    assert asked.stderr.startswith(f"dev: {refusal}")
    assert asked.stderr.count("\n") == 1


def test_a_data_folder_that_cannot_be_written_is_one_line_naming_it() -> None:
    asked = dev("manage", "check", DATA_DIR="/dev/null/data")

    assert asked.returncode == 1
    assert asked.stdout == ""
    assert asked.stderr == ("dev: DATA_DIR /dev/null/data cannot be written to: Not a directory\n")


def test_an_old_python_can_read_the_launcher_to_the_line_that_turns_it_away() -> None:
    source = (ROOT / "dev").read_text()

    tree = ast.parse(source, feature_version=(3, 5))

    check = next(node for node in tree.body if isinstance(node, ast.If))
    before = tree.body[: tree.body.index(check)]
    imported = [
        alias.name for node in before if isinstance(node, ast.Import) for alias in node.names
    ]
    assert imported == ["signal", "sys"]
