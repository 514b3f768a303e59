import json
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from companies.models import PlatformToken


class Command(BaseCommand):
    help = (
        "List the platform's tokens, oldest first: prefix, state, name, and when it was used last."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="a line of JSON for each")

    def handle(self, *args: Any, **options: Any) -> None:
        for token in PlatformToken.objects.order_by("pk"):
            shown = {
                "token": str(token),
                "state": state(token, timezone.now()),
                "name": token.name,
                "last_used_at": told_time(token.last_used_at),
                "expires_at": told_time(token.expires_at),
            }
            self.stdout.write(json.dumps(shown) if options["json"] else as_line(shown))


def state(token: PlatformToken, now: datetime) -> str:
    if token.revoked_at:
        return "revoked"
    return "expired" if token.expires_at and token.expires_at <= now else "live"


def told_time(time: datetime | None) -> str | None:
    return time.strftime("%Y-%m-%d %H:%M:%S") if time else None


def as_line(shown: dict[str, str | None]) -> str:
    used = f"used {shown['last_used_at']}" if shown["last_used_at"] else "never used"
    return "  ".join(part for part in (shown["token"], shown["state"], used, shown["name"]) if part)
