"""Web, worker and beat do not start on unsafe settings."""

import sys
from typing import NoReturn

from django.core.checks import CheckMessage, run_checks
from django.core.exceptions import ImproperlyConfigured

from config.checks import SETTINGS

# gunicorn's arbiter starts a worker process again whatever it ended with, but for this: then it
# stops as well, with the same code.
EXIT_CODE = 4


def refuse_unsafe_settings() -> None:
    """Return if the settings are safe to serve with; otherwise say on standard error what to
    change and raise SystemExit. Warnings are printed there too, and stop nothing.

    Runs the checks of `config.checks` alone, so it also passes while the database, the broker or
    DNS is away.
    """
    try:
        found = run_checks(tags=[SETTINGS])
    except ImproperlyConfigured as error:
        refuse([f"- {error}"])
    warnings = [problem_line(problem) for problem in found if not problem.is_serious()]
    if warnings:
        print("Consider these settings:", *warnings, sep="\n", file=sys.stderr)
    if errors := [problem_line(problem) for problem in found if problem.is_serious()]:
        refuse(errors)


def refuse(lines: list[str]) -> NoReturn:
    print("Not started. Change these settings:", *lines, sep="\n", file=sys.stderr)
    raise SystemExit(EXIT_CODE)


def problem_line(problem: CheckMessage) -> str:
    return f"- {problem.id}: {problem.msg} {problem.hint}"
