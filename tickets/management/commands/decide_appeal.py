from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from tickets import working
from tickets.changes.actors import NotAllowed, user_named
from tickets.changes.appeals import NoAppeal, OwnDecision
from tickets.changes.writes import MoveRefused
from tickets.models import Ticket
from tickets.statuses import Status

OUTCOMES = {"accept": "accepted", "refuse": "refused"}


class Command(OperatorCommand):
    help = """Decide the appeal of a Declined ticket on behalf of a lead: accept it, which moves the
ticket to In review, or refuse it. The company reads the reason of a refusal; that of an acceptance
stays with agents."""
    example = 'python manage.py decide_appeal 41 refuse --lead eve --reason "The label differs."'
    private = frozenset({"reason"})

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return f"ticket {options['ticket_id']}", None

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("ticket_id", type=int)
        parser.add_argument("decision", choices=OUTCOMES)
        parser.add_argument("--lead", required=True, metavar="USERNAME")
        parser.add_argument("--reason", required=True)
        parser.add_argument(
            "--alone",
            action="store_true",
            help="the lead declined the ticket, and there is no other lead",
        )

    def run(
        self,
        *args: Any,
        ticket_id: int,
        decision: str,
        lead: str,
        reason: str,
        alone: bool,
        **options: Any,
    ) -> CommandResult:
        try:
            user = user_named(lead)
            ticket = working.decide_appeal(
                ticket_id, accept=decision == "accept", user=user, reason=reason, alone=alone
            )
        except Ticket.DoesNotExist as error:
            raise CommandError(f"There is no ticket {ticket_id}.") from error
        except OwnDecision as error:
            advice = " Say --alone to decide nevertheless." if error.alone else ""
            raise CommandError(f"{error}{advice}") from error
        except (NotAllowed, NoAppeal, MoveRefused) as error:
            raise CommandError(str(error)) from error
        outcome = OUTCOMES[decision]
        return CommandResult(
            f"The appeal of ticket {ticket_id} is {outcome}. The ticket is"
            f" {Status(ticket.status).label}.",
            {"ticket_id": ticket_id, "appeal": outcome, "ticket_status_id": ticket.status},
            outcome,
        )
