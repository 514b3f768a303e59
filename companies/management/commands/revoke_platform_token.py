from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from companies import services


class Command(BaseCommand):
    help = "Revoke a token of the platform, given in full or as list_platform_tokens shows it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix_or_token")

    def handle(self, *args: Any, prefix_or_token: str, **options: Any) -> None:
        try:
            token = services.revoke_platform_token(prefix_or_token)
        except services.UnknownToken as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"revoked {token}")
