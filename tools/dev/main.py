"""Commands of ./dev, inside `.venv`."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from tools.dev.bootstrap import PYTHON, ROOT
from tools.dev.guard import guarded
from tools.dev.manage import manage
from tools.dev.openapi import check_description, schemathesis_options
from tools.dev.postgres import use_programs
from tools.dev.run import run
from tools.dev.translations import translate
from tools.dev.trouble import UsageError


def main(arguments: list[str]) -> int:
    command, *rest = arguments
    try:
        return COMMANDS[command](rest)
    except UsageError as trouble:
        sys.exit(f"dev: {trouble}")


def test(arguments: list[str]) -> int:
    """Run pytest; paths among the arguments are relative to the current folder.

    Servers that an interrupted run leaves end with it.
    """
    folder, arguments = split_option(POSTGRESQL, arguments)
    if folder is not None:
        if os.environ.get("DATABASE_URL"):
            raise UsageError(f"{POSTGRESQL} starts a server of its own: unset DATABASE_URL")
        use_programs(folder)
    everything = arguments in WHOLE_SUITES
    if everything or not Path.cwd().is_relative_to(ROOT):
        os.chdir(ROOT)
    ways = in_parallel() if everything else []
    # Tests start some two hundred processes, each of which would compile all code anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Sets need the same order in each run, so that a seed of the simulation plays the same.
    os.environ.setdefault("PYTHONHASHSEED", "0")
    command = [str(PYTHON), "-m", "pytest", *ways, *arguments]
    return guarded(partial(os.execv, PYTHON, command), leave_ctrl_c=True)


def schemathesis(arguments: list[str]) -> int:
    """Test every operation of the API with requests that its description allows or forbids."""
    os.environ.update(schemathesis_options(arguments))
    os.chdir(ROOT)
    return test(["-n", "2", "tests/test_schemathesis.py"])


def simulate(arguments: list[str]) -> int:
    """Simulate the engine from seeds, on a private PostgreSQL."""
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "-m", "tools.faults.simulation", *arguments])  # noqa: S606


def split_option(option: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """Split an option from the arguments; return its value, None without it, and the rest.

    Raises UsageError when the value is missing.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(option, dest="value")
    try:
        known_args, rest = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise UsageError(f"{option} needs a folder") from error
    return known_args.value, rest


def in_parallel() -> list[str]:
    """Return pytest's options for a whole suite: several processes, each with its own database.

    Two processes more than processors, because the slowest tests mostly wait for other programs.
    Those come first, and are handed out one by one: in equal shares, one process would get all.
    """
    processes = min((os.cpu_count() or 1) + 2, MOST_PROCESSES)
    return ["-n", str(processes), "--dist", "load", "--maxschedchunk", "1", *SLOWEST]


def lint(arguments: list[str]) -> int:
    """Run every linter, even after a failure; return the highest exit code.

    Each prints file, line and what to do, and reads its settings from pyproject.toml.
    """
    if arguments:
        raise UsageError("lint takes no arguments; for more, use .venv/bin/ruff, djlint or mypy")
    os.chdir(ROOT)
    return max(run_linter(name, *rest) for name, *rest in LINT)


def run_linter(name: str, *arguments: str) -> int:
    program = str(PYTHON.with_name(name))
    return os.spawnl(os.P_WAIT, program, program, *arguments)  # noqa: S606


# Options that list the slowest tests at the end of a run.
SLOWEST = ("--durations=40", "--durations-min=2")
# More processes would only wait for the database server they share.
MOST_PROCESSES = 4
# Arguments that name no file; such runs use several processes.
WHOLE_SUITES: tuple[list[str], ...] = ([], ["--slow"], ["--whole"])
POSTGRESQL = "--postgresql"
LINT = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("djlint", "--lint", "templates", "tools/dev/receiver.html"),
    ("mypy", "--no-error-summary"),
    ("python", "-m", "tools.dev.words"),
)
COMMANDS = {
    "run": run,
    "test": test,
    "manage": manage,
    "lint": lint,
    "translate": translate,
    "openapi": check_description,
    "schemathesis": schemathesis,
    "simulate": simulate,
}
