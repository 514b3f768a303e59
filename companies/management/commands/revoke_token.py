from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import services
from companies.commands import CommandResult, OperatorCommand
from companies.models import ApiToken


class Command(OperatorCommand):
    help = (
        "Revoke an API token, given in full or by the prefix that list_tokens shows; or every live"
        " token of a company, which then needs a new one."
    )
    example = (
        "python manage.py revoke_token live_3fK9aQ\n"
        "python manage.py revoke_token --company 7 --dry-run"
    )
    private = frozenset({"prefix_or_token"})
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("prefix_or_token", nargs="?")
        which.add_argument(
            "--company", type=int, dest="company_id", metavar="ID", help="all tokens of this one"
        )

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        token = options["prefix_or_token"]
        return "", services.company_of_token(token) if token else options["company_id"]

    def run(
        self,
        *args: Any,
        prefix_or_token: str | None,
        company_id: int | None,
        dry_run: bool,
        **options: Any,
    ) -> CommandResult:
        try:
            if company_id is not None:
                return revoked_all(services.revoke_tokens_of(company_id, dry_run=dry_run), dry_run)
            token = services.revoke_token(prefix_or_token or "", dry_run=dry_run)
        except (services.UnknownToken, services.UnknownCompany) as error:
            raise CommandError(str(error)) from error
        text = f"{'would revoke' if dry_run else 'revoked'} {token} of company {token.company_id}"
        return CommandResult(text, {"prefix": token.prefix, "company_id": token.company_id}, text)


def revoked_all(tokens: list[ApiToken], dry_run: bool) -> CommandResult:
    did = "would revoke" if dry_run else "revoked"
    lines = [f"{did} {token}" for token in tokens] or ["there is no live token"]
    data = [{"prefix": token.prefix, "company_id": token.company_id} for token in tokens]
    return CommandResult("\n".join(lines), data, f"revoked {len(tokens)} tokens")
