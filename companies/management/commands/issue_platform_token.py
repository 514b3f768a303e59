from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from companies import services


class Command(BaseCommand):
    help = (
        "Issue a token for the shipping platform, which opens POST /platform/feed and nothing "
        "else. Prints only the token; it cannot be shown again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", default="", help="who uses it; shown by list_platform_tokens")
        parser.add_argument(
            "--expires-in", type=float, metavar="DAYS", help="default: never expires"
        )

    def handle(self, *args: Any, name: str, expires_in: float | None, **options: Any) -> None:
        if expires_in is not None and not 0 < expires_in <= 36500:
            raise CommandError("--expires-in takes a number of days between 0 and 36500.")
        lifetime = timedelta(days=expires_in) if expires_in is not None else None
        try:
            self.stdout.write(services.issue_platform_token(name=name, expires_in=lifetime))
        except ValueError as error:
            raise CommandError(str(error)) from error
