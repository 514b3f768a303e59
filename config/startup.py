"""Web and worker do not start on unsafe settings."""

import sys
from importlib import import_module
from typing import NoReturn

from django.conf import settings
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from core.watch.checks import SETTINGS, problem_line

# gunicorn's arbiter starts a worker process again whatever it ended with, but for this: then it
# stops as well, with the same code.
EXIT_CODE = 4
# Modules that register checks of settings. Each is quick to load and needs no app.
CHECKS = (
    "core.checks",
    "core.watch.log_checks",
    "core.mailing.checks",
    "webhooks.checks",
    "deliveries.checks",
    "tickets.checks",
    "desk.checks",
    "config.checks",
)

# Warnings, so that a process that asks twice says them once.
said: set[str] = set()


def load_checks() -> None:
    for name in CHECKS:
        import_module(name)


def refuse_unreadable_settings() -> None:
    """Return if the variables can be read; otherwise as `refuse_unsafe_settings`."""
    try:
        _ = settings.INSTALLED_APPS
    except ImproperlyConfigured as error:
        refuse([f"- {error}"])


def refuse_unsafe_settings() -> None:
    """Return if the settings are safe to serve with; otherwise say on standard error what to
    change and raise SystemExit. Warnings are printed there too, and stop nothing.

    Runs the checks of settings alone, so it also passes while the database, the broker or DNS is
    away.
    """
    load_checks()
    refuse_unreadable_settings()
    found = run_checks(tags=[SETTINGS])
    warnings = [problem_line(problem) for problem in found if not problem.is_serious()]
    if new := [line for line in warnings if line not in said]:
        said.update(new)
        print("Consider these settings:", *new, sep="\n", file=sys.stderr)
    if errors := [problem_line(problem) for problem in found if problem.is_serious()]:
        refuse(errors)


def refuse(lines: list[str]) -> NoReturn:
    print("Not started. Change these settings:", *lines, sep="\n", file=sys.stderr)
    raise SystemExit(EXIT_CODE)
