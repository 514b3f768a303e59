from datetime import datetime
from typing import Any

from django.utils import timezone

from companies.commands import OperatorCommand, Said, for_terminal
from companies.models import PlatformToken
from companies.tokens import token_state


class Command(OperatorCommand):
    help = (
        "List the platform's tokens, oldest first: prefix, state, name, and when it was used last."
        " With --json a line for each."
    )
    example = "python manage.py list_platform_tokens --json"
    changes = False

    def run(self, *args: Any, **options: Any) -> Said:
        now = timezone.now()
        found = [platform_token_row(token, now) for token in PlatformToken.objects.order_by("pk")]
        return Said(map(as_line, found), iter(found))


def platform_token_row(token: PlatformToken, now: datetime) -> dict[str, str | None]:
    return {
        "token": str(token),
        "state": token_state(token.revoked_at, token.expires_at, now),
        "name": token.name,
        "last_used_at": told_time(token.last_used_at),
        "expires_at": told_time(token.expires_at),
    }


def told_time(time: datetime | None) -> str | None:
    return time.strftime("%Y-%m-%d %H:%M:%S") if time else None


def as_line(shown: dict[str, str | None]) -> str:
    used = f"used {shown['last_used_at']}" if shown["last_used_at"] else "never used"
    name = for_terminal(shown["name"] or "")
    return "  ".join(part for part in (shown["token"], shown["state"], used, name) if part)
