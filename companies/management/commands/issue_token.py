from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from companies import services


class Command(BaseCommand):
    help = "Issue an API token for a company. Prints only the token; it cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("company_id", type=int)
        parser.add_argument(
            "--expires-in", type=float, metavar="DAYS", help="default: never expires"
        )

    def handle(self, *args: Any, company_id: int, expires_in: float | None, **options: Any) -> None:
        if expires_in is not None and not 0 < expires_in <= 36500:
            raise CommandError("--expires-in takes a number of days between 0 and 36500.")
        lifetime = timedelta(days=expires_in) if expires_in is not None else None
        try:
            self.stdout.write(services.issue_token(company_id, expires_in=lifetime))
        except services.UnknownCompany as error:
            raise CommandError(str(error)) from error
