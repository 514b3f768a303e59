from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Q
from django.utils import timezone

from companies.commands import CommandResult, OperatorCommand, for_terminal, parse_days
from companies.models import ApiToken
from companies.models.tokens import lives
from companies.tokens import token_state

AT_ONCE = 2_000


class Command(OperatorCommand):
    help = (
        "List the companies' API tokens that are live, oldest first: prefix, state, company, when"
        " it was made, used last and expires. With --json a line for each."
    )
    example = "python manage.py list_tokens --unused-for 90"
    changes = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--company", type=int, metavar="ID", help="of this company only")
        parser.add_argument(
            "--unused-for",
            type=float,
            metavar="DAYS",
            help="only those that nobody has used for so long",
        )
        parser.add_argument("--all", action="store_true", help="also what is revoked or expired")

    def run(
        self, *args: Any, company: int | None, unused_for: float | None, all: bool, **options: Any
    ) -> CommandResult:
        now = timezone.now()
        chosen = ApiToken.objects.select_related("company").order_by("pk")
        if not all:
            chosen = chosen.filter(lives(now))
        if company is not None:
            chosen = chosen.filter(company_id=company)
        if (unused := parse_days(unused_for, "--unused-for")) is not None:
            before = now - unused
            never = Q(last_used_at=None, created_at__lt=before)
            chosen = chosen.filter(never | Q(last_used_at__lt=before))
        rows = (token_row(token, now) for token in chosen.iterator(AT_ONCE))
        return CommandResult(token_lines(rows), rows)


def token_row(token: ApiToken, now: datetime) -> dict[str, Any]:
    return {
        "token": str(token),
        "state": token_state(token.revoked_at, token.expires_at, now),
        "company_id": token.company_id,
        "company": token.company.name,
        "company_active": token.company.active,
        "created_at": token.created_at,
        "last_used_at": token.last_used_at,
        "expires_at": token.expires_at,
    }


def token_lines(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        used, ends = row["last_used_at"], row["expires_at"]
        yield "  ".join(
            [
                row["token"],
                f"{row['state']:<7}",
                f"made {row['created_at']:%Y-%m-%d}",
                f"used {used:%Y-%m-%d %H:%M}" if used else f"{'never used':<21}",
                f"expires {ends:%Y-%m-%d}" if ends else f"{'never expires':<18}",
                f"company {row['company_id']} {for_terminal(row['company'])}",
            ]
        )
