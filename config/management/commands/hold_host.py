from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import audit
from companies.commands import OperatorCommand, Said
from deliveries.engine import holding


class Command(OperatorCommand):
    help = """Send nothing more to a host until it is released. What is in flight ends; deliveries
wait, in order, and use up none of their retries. Loops notice within a second or two."""
    example = (
        'python manage.py hold_host hooks.example.com --reason "their outage"\n'
        "python manage.py hold_host --list"
    )
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("host", nargs="?", help="a name, or an address")
        what.add_argument("--list", action="store_true", help="show those that are held")
        parser.add_argument("--reason", default="", help="for whoever wonders later")

    def acts(self, options: dict[str, Any]) -> bool:
        return super().acts(options) and not options["list"]

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return options["host"] or "", None

    def run(
        self, *args: Any, host: str | None, list: bool, reason: str, dry_run: bool, **options: Any
    ) -> Said:
        if list or host is None:
            return list_held()
        try:
            if dry_run:
                name = holding.host_named(host)
                return Said(f"would hold {name}", {"host": name, "held": False})
            name = holding.hold_host(host, by=audit.shell_user(), reason=reason)
        except holding.NoHost as error:
            raise CommandError(str(error)) from error
        return Said(f"holding {name}", {"host": name, "held": True}, f"holding {name}")


def list_held() -> Said:
    held = holding.held_hosts()
    lines = [
        f"{each.host}  since {each.held_at:%Y-%m-%d %H:%M} UTC, by {each.by}"
        f"{': ' if each.reason else ''}{each.reason}"
        for each in held
    ]
    data = [
        {"host": each.host, "since": each.held_at, "by": each.by, "reason": each.reason}
        for each in held
    ]
    return Said("\n".join(lines) or "no host is held", data)
