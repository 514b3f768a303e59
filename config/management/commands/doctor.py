import re
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from config import first_env_file
from core.data import database
from core.health.examining import PATIENCE_SECONDS
from core.watch import doctor
from core.watch.doctor import Finding, Grade

# Defaults of the first env file: everything on one host, with PostgreSQL's peer authentication.
LOCAL = {
    "DATABASE_URL": "postgres://parceldesk@//var/run/postgresql/parceldesk",
    "BROKER_URL": "redis://127.0.0.1:6379/0",
    "DATA_DIR": "/var/lib/parceldesk",
}
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", re.ASCII)
NAME = re.compile(r"[A-Z][A-Z_0-9]*", re.ASCII)
NEXT = """Now:
1. Give the file to the user that the service runs as, if that is another.
2. Keep a copy of FIELD_KEYS apart from the backups of the database; they are worthless without.
3. Run python manage.py migrate, start web and worker, and run python manage.py doctor.
docs/operations/deploying.md has each command."""


class Command(OperatorCommand):
    help = """Examine every part that the service stands on, all at once, and say what to do about
those that are not well. Exits with 1 if one of them fails. It changes nothing. With --init it
writes the first file of variables instead, with fresh keys, and overwrites none."""
    example = """python manage.py doctor
python manage.py doctor --only broker clock --json
python manage.py doctor --init --host desk.example.com --set EMAIL_HOST=mail.example.com"""
    changes = False
    # The checks of settings are one of the command's own, so that a failure is a line of the table.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these checks")
        init = parser.add_argument_group("the first file of variables")
        init.add_argument("--init", action="store_true", help="write it, and examine nothing")
        init.add_argument("--file", default=".env", type=Path, help="where (%(default)s)")
        init.add_argument("--host", help="name under which the service is reached")
        init.add_argument("--database-url", default=LOCAL["DATABASE_URL"], help="%(default)s")
        init.add_argument("--broker-url", default=LOCAL["BROKER_URL"], help="%(default)s")
        init.add_argument("--data-dir", default=LOCAL["DATA_DIR"], help="%(default)s")
        init.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE", help="any other variable"
        )

    def run(self, *args: Any, only: list[str], **options: Any) -> CommandResult:
        if options["init"]:
            return initial(options)
        database.wait_at_most(PATIENCE_SECONDS)
        results = doctor.examine_all(chosen_checks(only))
        failed = any(result.grade is Grade.FAIL for result in results)
        checks = [result._asdict() for result in results]
        return CommandResult(
            findings_as_table(results), {"ok": not failed, "checks": checks}, failed=failed
        )


def initial(options: dict[str, Any]) -> CommandResult:
    """Write the first env file. Raises CommandError without --host, or if the file exists."""
    path, host = options["file"].absolute(), options["host"]
    if not host or not HOST.fullmatch(host):
        raise CommandError("--host is needed: the name people type, such as desk.example.com.")
    values = first_env_file.fresh_keys() | {
        "ENVIRONMENT": "production",
        "DEPLOYMENT": host,
        "ALLOWED_HOSTS": host,
        "CSRF_TRUSTED_ORIGINS": f"https://{host}",
        "PROXY_COUNT": "1",
        "DATABASE_URL": options["database_url"],
        "BROKER_URL": options["broker_url"],
        "DATA_DIR": options["data_dir"],
        "FILES_DIR": f"{options['data_dir'].rstrip('/')}/files",
    }
    for each in options["set"]:
        name, equals, value = each.partition("=")
        if not (equals and NAME.fullmatch(name)) or "\n" in value:
            raise CommandError(f"--set takes NAME=value, such as LOG_FORMAT=json, and not {name}.")
        values[name] = value
    try:
        first_env_file.write_first_env_file(path, values)
    except FileExistsError as error:
        raise CommandError(f"{path} is there already, with keys that data may need.") from error
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    return CommandResult(f"Wrote {path}, mode 600, with fresh keys. {NEXT}", {"file": str(path)})


def chosen_checks(only: list[str]) -> list[doctor.Check]:
    """Return the checks with these names, without names all. Raises CommandError if unknown."""
    checks = doctor.all_checks()
    names = {check.name for check in checks}
    if unknown := sorted(set(only) - names):
        raise CommandError(
            f"There is no check {unknown[0]}. There are: {', '.join(sorted(names))}."
        )
    return [check for check in checks if not only or check.name in only]


def findings_as_table(results: list[Finding]) -> str:
    width = max(len(result.name) for result in results)
    lines = []
    for result in results:
        lines.append(f"{result.grade:<4}  {result.name:<{width}}  {result.detail}")
        if result.cure:
            lines.append(f"{'':<{width + 8}}{result.cure}")
    return "\n".join(lines)
