from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from tickets import working
from tickets.changes.actors import NotAllowed, user_named
from tickets.changes.decisions import Decision
from tickets.changes.documents import BadDocumentName, clean_document_names
from tickets.changes.writes import MoveRefused
from tickets.models import Ticket
from tickets.statuses import AGENT_MOVES, REQUESTING, TERMINAL, Status, joined, listed


class Command(OperatorCommand):
    help = "Move a ticket on behalf of an agent. Prints the new status."
    example = 'python manage.py move_ticket 41 3 --agent ada --reason "The scale was checked."'
    private = frozenset({"reason", "request"})

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return f"ticket {options['ticket_id']}", None

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("ticket_id", type=int)
        parser.add_argument(
            "status_id",
            type=int,
            help=f"the new status: {listed(AGENT_MOVES)}",
        )
        parser.add_argument("--agent", required=True, metavar="USERNAME")
        asking = [f"to {move.verb.lower()}" for move in AGENT_MOVES.values() if move.needs_reason]
        needed = joined([*asking, "to reopen"], "and")
        parser.add_argument("--reason", default="", help=f"required {needed}")
        parser.add_argument(
            "--request",
            action="append",
            default=[],
            metavar="NAME",
            help=f"document that the company is to send, with {listed(REQUESTING)}; repeatable",
        )

        parser.add_argument(
            "--code",
            default="",
            help=f"the reason code of a decision ({listed(TERMINAL)}); other where none is given",
        )

    def run(
        self,
        *args: Any,
        ticket_id: int,
        status_id: int,
        agent: str,
        reason: str,
        request: list[str],
        code: str,
        **options: Any,
    ) -> CommandResult:
        if status_id not in set(Status):
            raise CommandError(f"There is no status {status_id}. There are {listed(Status)}.")
        if request and status_id not in REQUESTING:
            raise CommandError(f"--request goes with {listed(REQUESTING)} only.")
        try:
            user, names = user_named(agent), clean_document_names(request)
            ticket = working.move(
                ticket_id,
                Status(status_id),
                user=user,
                reason=reason,
                requested=names,
                decision=Decision(code=code),
            )
        except Ticket.DoesNotExist as error:
            raise CommandError(f"There is no ticket {ticket_id}.") from error
        except (NotAllowed, MoveRefused, BadDocumentName) as error:
            raise CommandError(str(error)) from error
        moved = f"{ticket.status} {Status(ticket.status).label}"
        return CommandResult(
            moved, {"ticket_id": ticket_id, "ticket_status_id": ticket.status}, moved
        )
