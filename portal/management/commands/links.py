from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db.models import Case, F, Value, When

from companies.commands import CommandResult, OperatorCommand
from portal import access

AT_ONCE = 2_000
COLUMNS = ("id", "ticket_id", "created_at", "ended_at", "live")


class Command(OperatorCommand):
    help = (
        "List what opens the company's page: links in emails, each to a ticket, and sessions that"
        " the platform asked for, oldest first. With --json a line for each."
    )
    example = "python manage.py links --company 7 --all"
    changes = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--ticket", type=int, metavar="ID", help="links to this ticket only")
        parser.add_argument("--company", type=int, metavar="ID", help="of this company only")
        parser.add_argument("--all", action="store_true", help="also what opens nothing any more")

    def run(
        self, *args: Any, ticket: int | None, company: int | None, all: bool, **options: Any
    ) -> CommandResult:
        links, sessions = access.doors(ticket_id=ticket, company_id=company)
        if not all:
            links, sessions = links.filter(live=True), sessions.filter(live=True)
        opened_at = F("expires_at") - access.SESSION_LIFETIME
        link_rows = links.values(
            *COLUMNS,
            "used_at",
            kind=Value("link"),
            company_id=F("ticket__company"),
            ends_at=F("ticket__updated_at") + settings.LINK_LIFETIME,
        )
        session_rows = sessions.values(
            *COLUMNS,
            "company_id",
            kind=Value("session"),
            used_at=Case(When(key_digest__isnull=False, then=opened_at)),
            ends_at=F("expires_at"),
        )
        rows = chain(link_rows.iterator(AT_ONCE), session_rows.iterator(AT_ONCE))
        return CommandResult(lines(rows), rows)


def lines(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        used, ended = row["used_at"], row["ended_at"]
        yield "  ".join(
            [
                f"{row['kind']} {row['id']:<8}",
                f"company {row['company_id']}",
                f"ticket {row['ticket_id']}" if row["ticket_id"] else "tickets and webhooks",
                f"made {row['created_at']:%Y-%m-%d %H:%M}",
                f"used {used:%Y-%m-%d %H:%M}" if used else "never used",
                f"{'ended' if ended else 'until'} {ended or row['ends_at']:%Y-%m-%d %H:%M}",
            ]
        )
