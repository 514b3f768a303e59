from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from companies.models import Company
from portal import access
from tickets.models import Ticket


class Command(OperatorCommand):
    help = (
        "End the links in emails to a ticket at once; or all links of a company, and the sessions"
        " of its page. The next email about a ticket has a new link."
    )
    example = (
        "python manage.py revoke_links --ticket 43\n"
        "python manage.py revoke_links --company 7 --dry-run"
    )
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--ticket", type=int, dest="ticket_id", metavar="ID")
        which.add_argument("--company", type=int, dest="company_id", metavar="ID")

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        ticket_id = options["ticket_id"]
        if ticket_id is None:
            return "", options["company_id"]
        owner = Ticket.objects.filter(pk=ticket_id).values_list("company_id", flat=True).first()
        return f"ticket {ticket_id}", owner

    def run(
        self,
        *args: Any,
        ticket_id: int | None,
        company_id: int | None,
        dry_run: bool,
        **options: Any,
    ) -> CommandResult:
        for model, number in ((Ticket, ticket_id), (Company, company_id)):
            if number is not None and not model.objects.filter(pk=number).exists():
                raise CommandError(f"There is no {model.__name__.lower()} {number}.")
        ended = access.end_doors(ticket_id=ticket_id, company_id=company_id, dry_run=dry_run)
        did = "would end" if dry_run else "ended"
        text = f"{did} {ended.links} links and {ended.sessions} sessions"
        return CommandResult(text, ended._asdict(), text)
