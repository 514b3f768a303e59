from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from deliveries.engine import holding


class Command(OperatorCommand):
    help = "Send to a host again; what waited goes out, in order, as fast as its receivers take it."
    example = "python manage.py release_host hooks.example.com"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("host", help="a name, or an address")

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return options["host"], None

    def run(self, *args: Any, host: str, **options: Any) -> CommandResult:
        try:
            if not holding.release_host(host):
                raise CommandError(f"{host} is not held; hold_host --list shows those that are.")
        except holding.InvalidHost as error:
            raise CommandError(str(error)) from error
        return CommandResult(f"released {host}", {"host": host, "held": False}, f"released {host}")
