from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.core.management.base import CommandParser

from companies.commands import CommandResult, OperatorCommand
from portal import access
from portal.access import Door


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
        links, sessions = access.doors(ticket_id=ticket, company_id=company, live=not all)
        found = chain(access.doors_of_links(links), access.doors_of_sessions(sessions))
        return CommandResult(lines(found), (door._asdict() for door in found))


def lines(found: Iterator[Door]) -> Iterator[str]:
    for door in found:
        yield "  ".join(
            [
                f"{door.kind} {door.id:<8}",
                f"company {door.company_id}",
                f"ticket {door.ticket_id}" if door.ticket_id else "tickets and webhooks",
                f"made {door.created_at:%Y-%m-%d %H:%M}",
                f"used {door.used_at:%Y-%m-%d %H:%M}" if door.used_at else "never used",
                f"ended {door.ended_at:%Y-%m-%d %H:%M}"
                if door.ended_at
                else f"until {door.ends_at:%Y-%m-%d %H:%M}",
            ]
        )
