"""Checks of settings at the start of web and worker, which refuse unsafe ones."""

import sys
from importlib import import_module
from typing import NoReturn

from django.conf import settings
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from core.watch.checks import SETTINGS, problem_line

# gunicorn's arbiter replaces a worker process after any other exit code; after this one it stops
# too, with the same code.
EXIT_CODE = 4
# Modules that register checks of settings. Each loads quickly and needs no app.
CHECKS = (
    "core.checks",
    "core.watch.log_checks",
    "core.mailing.checks",
    "webhooks.checks",
    "deliveries.checks",
    "tickets.checks",
    "portal.checks",
    "desk.checks",
    "config.checks",
)

# A process that runs the checks twice prints a warning once.
printed_warnings: set[str] = set()


def load_checks() -> None:
    for name in CHECKS:
        import_module(name)


def refuse_unreadable_settings() -> None:
    """Exit, as `refuse_unsafe_settings` does, if a variable cannot be read."""
    try:
        _ = settings.INSTALLED_APPS
    except ImproperlyConfigured as error:
        refuse([f"- {error}"])


def refuse_unsafe_settings() -> None:
    """Exit if the settings are unsafe, and print to standard error what to change.

    Warnings are printed too, without an exit. Only the checks of settings run, so this passes while
    the database, the broker or DNS is away. Raises SystemExit.
    """
    load_checks()
    refuse_unreadable_settings()
    problems = run_checks(tags=[SETTINGS])
    warnings = [problem_line(problem) for problem in problems if not problem.is_serious()]
    if new := [line for line in warnings if line not in printed_warnings]:
        printed_warnings.update(new)
        print("Consider these settings:", *new, sep="\n", file=sys.stderr)
    if errors := [problem_line(problem) for problem in problems if problem.is_serious()]:
        refuse(errors)


def refuse(lines: list[str]) -> NoReturn:
    print("Not started. Change these settings:", *lines, sep="\n", file=sys.stderr)
    raise SystemExit(EXIT_CODE)
