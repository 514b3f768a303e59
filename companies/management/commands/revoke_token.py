from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import services
from companies.commands import OperatorCommand, Said


class Command(OperatorCommand):
    help = "Revoke an API token, given in full or by the prefix that the admin shows."
    example = "python manage.py revoke_token live_3fK9aQ"
    private = frozenset({"prefix_or_token"})

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("prefix_or_token")

    def run(self, *args: Any, prefix_or_token: str, **options: Any) -> Said:
        try:
            token = services.revoke_token(prefix_or_token)
        except services.UnknownToken as error:
            raise CommandError(str(error)) from error
        revoked = f"revoked {token} of company {token.company_id}"
        return Said(revoked, {"prefix": token.prefix, "company_id": token.company_id}, revoked)
