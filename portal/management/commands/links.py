from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from companies.commands import CommandResult, OperatorCommand
from portal import access

AT_ONCE = 2_000
Row = dict[str, Any]


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
        links = links.select_related("ticket")
        rows = chain(
            map(link_row, links.iterator(AT_ONCE)), map(session_row, sessions.iterator(AT_ONCE))
        )
        return CommandResult(lines(rows), rows)


def link_row(link: Any) -> Row:
    return {
        **door_row(link),
        "company_id": link.ticket.company_id,
        "used_at": link.used_at,
        "ends_at": link.ticket.updated_at + settings.LINK_LIFETIME,
    }


def session_row(session: Any) -> Row:
    opened_at = session.expires_at - access.SESSION_LIFETIME
    return {
        **door_row(session),
        "company_id": session.company_id,
        "used_at": opened_at if session.key_digest else None,
        "ends_at": session.expires_at,
    }


def door_row(door: Any) -> Row:
    kind = "link" if door._meta.model_name == "ticketlink" else "session"
    names = ("id", "ticket_id", "created_at", "ended_at", "live")
    return {"kind": kind, **{name: getattr(door, name) for name in names}}


def lines(rows: Iterator[Row]) -> Iterator[str]:
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
