from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from companies.commands import OperatorCommand, Said
from tickets.changes import anonymising

HELP = "decided so many days ago or earlier"


class Command(OperatorCommand):
    help = """Anonymise decided tickets: texts, names and files go, from their history and from what
was sent about them too; ids, times, statuses and amounts stay. This cannot be undone.

Either say which tickets, or those of a company that were decided long ago. Their number has to be
confirmed: it is asked for on a terminal, else give --confirm."""
    example = """python manage.py anonymise --ticket 12 13 --confirm 2
python manage.py anonymise --company 7 --older-than 365 --dry-run
python manage.py anonymise --company 7 --older-than 365 --confirm 1204"""
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--ticket", type=int, nargs="+", default=[], metavar="ID")
        parser.add_argument("--company", type=int, dest="company_id", metavar="ID")
        parser.add_argument("--older-than", type=float, metavar="DAYS", help=HELP)
        parser.add_argument("--confirm", type=int, metavar="N", help="how many they are")

    def run(self, *args: Any, dry_run: bool, confirm: int | None, **options: Any) -> Said:
        tickets = chosen(**options)
        try:
            anonymising.check_decided(tickets)
            if dry_run:
                return Said(f"would anonymise {len(tickets)} tickets", {"tickets": len(tickets)})
            self.make_sure(len(tickets), confirm)
            counts = anonymising.anonymise_tickets(tickets, show=self.show)
        except anonymising.NotDecided as error:
            raise CommandError(str(error)) from error
        rows = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
        return Said(f"anonymised {len(tickets)} tickets: {rows or 'nothing was left'}", counts)

    def make_sure(self, number: int, confirm: int | None) -> None:
        """Raises CommandError unless their number was given."""
        if confirm is None and self.stdout.isatty():
            typed = input(f"This blanks {number} tickets and cannot be undone. Type the number: ")
            confirm = int(typed) if typed.strip().isdecimal() else None
        if confirm != number:
            raise CommandError(f"Confirm with --confirm {number}. Nothing was blanked.")


def chosen(
    ticket: list[int], company_id: int | None, older_than: float | None, **_: Any
) -> list[int]:
    """Raises CommandError."""
    by_company = company_id is not None and older_than is not None
    if bool(ticket) == by_company or (ticket and (company_id or older_than)):
        raise CommandError("Say --ticket ID, or both --company ID and --older-than DAYS.")
    if company_id is None or older_than is None:
        return sorted(set(ticket))
    if not 0 <= older_than <= 36_500:
        raise CommandError("--older-than takes a number of days between 0 and 36500.")
    before = timezone.now() - timedelta(days=older_than)
    return anonymising.decided_long_ago(company_id, before)
