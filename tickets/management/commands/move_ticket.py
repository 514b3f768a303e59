from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tickets import working
from tickets.changes.actors import NotAllowed, named
from tickets.changes.writes import MoveRefused
from tickets.models import Ticket
from tickets.statuses import Status


class Command(BaseCommand):
    help = "Move a ticket for an agent, as the desk does. Prints its status after it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ticket_id", type=int)
        parser.add_argument(
            "status_id",
            type=int,
            help=", ".join(f"{status.value} {status.label}" for status in Status),
        )
        parser.add_argument("--agent", required=True, metavar="USERNAME")
        parser.add_argument(
            "--reason", default="", help="needed to decline, to ask for more, and to reopen"
        )

    def handle(
        self, *args: Any, ticket_id: int, status_id: int, agent: str, reason: str, **options: Any
    ) -> None:
        if status_id not in set(Status):
            raise CommandError(f"There is no status {status_id}.")
        try:
            user = named(agent)
            ticket = working.move(ticket_id, Status(status_id), user=user, reason=reason)
        except Ticket.DoesNotExist as error:
            raise CommandError(f"There is no ticket {ticket_id}.") from error
        except (NotAllowed, MoveRefused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{ticket.status} {Status(ticket.status).label}")
