import json
import sys
from importlib import import_module
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.module_loading import autodiscover_modules

from companies import doctor
from companies.doctor import Finding, Grade
from config import database

# A server that does not answer is given up before the time of a check is over.
PATIENCE_SECONDS = 6.0


class Command(BaseCommand):
    help = """Examine every part that the service stands on, all at once, and say what to do about
those that are not well. Exits with 1 if one of them fails. It changes nothing."""
    # They are the first check of all, and one that fails is a line like the others.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the results as JSON")

    def handle(self, *args: Any, json: bool, **options: Any) -> None:
        database.wait_at_most(PATIENCE_SECONDS)
        results = doctor.examine_all(all_checks())
        self.stdout.write(findings_as_json(results) if json else findings_as_table(results))
        if any(result.grade is Grade.FAIL for result in results):
            sys.exit(1)


def all_checks() -> list[doctor.Check]:
    """What everything stands on first, then the apps in their order."""
    import_module("config.doctor_checks")
    autodiscover_modules("doctor_checks")
    return doctor.checks


def findings_as_table(results: list[Finding]) -> str:
    width = max(len(result.name) for result in results)
    lines = []
    for result in results:
        lines.append(f"{result.grade:<4}  {result.name:<{width}}  {result.detail}")
        if result.cure:
            lines.append(f"{'':<{width + 8}}{result.cure}")
    return "\n".join(lines)


def findings_as_json(results: list[Finding]) -> str:
    fails = sum(result.grade is Grade.FAIL for result in results)
    checks = [result._asdict() for result in results]
    return json.dumps({"ok": not fails, "checks": checks}, indent=2)
