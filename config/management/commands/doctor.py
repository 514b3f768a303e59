from importlib import import_module
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.module_loading import autodiscover_modules

from companies import doctor
from companies.commands import OperatorCommand, Said
from companies.doctor import Finding, Grade
from config import database

# A server that does not answer is given up before the time of a check is over.
PATIENCE_SECONDS = 6.0


class Command(OperatorCommand):
    help = """Examine every part that the service stands on, all at once, and say what to do about
those that are not well. Exits with 1 if one of them fails. It changes nothing."""
    example = "python manage.py doctor\npython manage.py doctor --only broker clock --json"
    changes = False
    # They are the first check of all, and one that fails is a line like the others.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these checks")

    def run(self, *args: Any, only: list[str], **options: Any) -> Said:
        database.wait_at_most(PATIENCE_SECONDS)
        results = doctor.examine_all(chosen_checks(only))
        failed = any(result.grade is Grade.FAIL for result in results)
        checks = [result._asdict() for result in results]
        return Said(findings_as_table(results), {"ok": not failed, "checks": checks}, failed=failed)


def chosen_checks(only: list[str]) -> list[doctor.Check]:
    """Those of these names, or all. Raises CommandError for a name that none has."""
    checks = all_checks()
    names = {check.name for check in checks}
    if unknown := sorted(set(only) - names):
        raise CommandError(
            f"There is no check {unknown[0]}. There are: {', '.join(sorted(names))}."
        )
    return [check for check in checks if not only or check.name in only]


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
