from datetime import datetime
from typing import Any

from django.utils import timezone

from companies.commands import CommandResult, OperatorCommand, for_terminal
from companies.models import PlatformToken
from companies.tokens import token_state


class Command(OperatorCommand):
    help = (
        "List the platform's tokens, oldest first: prefix, state, name, and when it was used last."
        " With --json a line for each."
    )
    example = "python manage.py list_platform_tokens --json"
    changes = False

    def run(self, *args: Any, **options: Any) -> CommandResult:
        now = timezone.now()
        rows = [platform_token_row(token, now) for token in PlatformToken.objects.order_by("pk")]
        return CommandResult(map(as_line, rows), iter(rows))


def platform_token_row(token: PlatformToken, now: datetime) -> dict[str, str | None]:
    return {
        "token": str(token),
        "state": token_state(token.revoked_at, token.expires_at, now),
        "name": token.name,
        "last_used_at": time_text(token.last_used_at),
        "expires_at": time_text(token.expires_at),
    }


def time_text(time: datetime | None) -> str | None:
    return time.strftime("%Y-%m-%d %H:%M:%S") if time else None


def as_line(row: dict[str, str | None]) -> str:
    used = f"used {row['last_used_at']}" if row["last_used_at"] else "never used"
    name = for_terminal(row["name"] or "")
    return "  ".join(part for part in (row["token"], row["state"], used, name) if part)
