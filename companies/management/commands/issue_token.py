from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import services, tokens
from companies.commands import CommandResult, OperatorCommand, parse_days


class Command(OperatorCommand):
    help = "Issue an API token for a company. Prints only the token; it cannot be shown again."
    example = "python manage.py issue_token 1 --expires-in 90"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("company_id", type=int)
        parser.add_argument(
            "--expires-in", type=float, metavar="DAYS", help="default: never expires"
        )

    def run(
        self, *args: Any, company_id: int, expires_in: float | None, **options: Any
    ) -> CommandResult:
        lifetime = parse_days(expires_in)
        try:
            token = services.issue_token(company_id, expires_in=lifetime)
        except services.UnknownCompany as error:
            raise CommandError(str(error)) from error
        prefix = tokens.token_prefix(token)
        result = {"company_id": company_id, "token": token, "prefix": prefix}
        return CommandResult(token, result, f"issued {prefix}…")
