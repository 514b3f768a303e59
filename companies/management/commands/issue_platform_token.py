from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import services, tokens
from companies.commands import CommandResult, OperatorCommand, parse_days


class Command(OperatorCommand):
    help = (
        "Issue a token for the shipping platform, which opens POST /platform/feed and nothing "
        "else. Prints only the token; it cannot be shown again."
    )
    example = "python manage.py issue_platform_token --name warehouse"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--name", default="", help="who uses it; shown by list_platform_tokens")
        parser.add_argument(
            "--expires-in", type=float, metavar="DAYS", help="default: never expires"
        )

    def run(self, *args: Any, name: str, expires_in: float | None, **options: Any) -> CommandResult:
        lifetime = parse_days(expires_in)
        try:
            token = services.issue_platform_token(name=name, expires_in=lifetime)
        except ValueError as error:
            raise CommandError(str(error)) from error
        prefix = tokens.token_prefix(token)
        return CommandResult(
            token, {"name": name, "token": token, "prefix": prefix}, f"issued {prefix}…"
        )
