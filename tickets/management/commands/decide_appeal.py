import json
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tickets import working
from tickets.changes.actors import NotAllowed, user_named
from tickets.changes.appeals import NoAppeal
from tickets.changes.writes import MoveRefused
from tickets.models import Ticket
from tickets.statuses import Status

OUTCOMES = {"accept": "accepted", "refuse": "refused"}


class Command(BaseCommand):
    help = """Decide the appeal of a Declined ticket on behalf of a lead: accept it, which moves the
ticket to In review, or refuse it. The company reads the reason of a refusal; that of an acceptance
stays with agents.

Example:
  python manage.py decide_appeal 41 refuse --lead eve --reason "The label on the photo is another."
"""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ticket_id", type=int)
        parser.add_argument("decision", choices=OUTCOMES)
        parser.add_argument("--lead", required=True, metavar="USERNAME")
        parser.add_argument("--reason", required=True)
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(
        self,
        *args: Any,
        ticket_id: int,
        decision: str,
        lead: str,
        reason: str,
        **options: Any,
    ) -> None:
        try:
            user = user_named(lead)
            ticket = working.decide_appeal(
                ticket_id, accept=decision == "accept", user=user, reason=reason
            )
        except Ticket.DoesNotExist as error:
            raise CommandError(f"There is no ticket {ticket_id}.") from error
        except (NotAllowed, NoAppeal, MoveRefused) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            told = {"appeal": OUTCOMES[decision], "ticket_status_id": ticket.status}
            self.stdout.write(json.dumps({"ticket_id": ticket_id, **told}))
        else:
            self.stdout.write(
                f"The appeal of ticket {ticket_id} is {OUTCOMES[decision]}. The ticket is"
                f" {Status(ticket.status).label}."
            )
