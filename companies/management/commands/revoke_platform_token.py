from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import services
from companies.commands import CommandResult, OperatorCommand


class Command(OperatorCommand):
    help = "Revoke a token of the platform, given in full or as list_platform_tokens shows it."
    example = "python manage.py revoke_platform_token feed_live_3fK9aQ"
    private = frozenset({"prefix_or_token"})

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("prefix_or_token")

    def run(self, *args: Any, prefix_or_token: str, **options: Any) -> CommandResult:
        try:
            token = services.revoke_platform_token(prefix_or_token)
        except services.UnknownToken as error:
            raise CommandError(str(error)) from error
        revoked = f"revoked {token}"
        return CommandResult(revoked, {"prefix": token.prefix}, revoked)
