from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from companies.commands import CommandResult, OperatorCommand
from tickets.changes import anonymising

HELP = "decided so many days ago or earlier"
NUMBER_HELP = "all that is known of a parcel, its tickets included"


class Command(OperatorCommand):
    help = """Anonymise decided tickets: texts, names and files go, from their history and from what
was sent about them too; ids, times, statuses and amounts stay. This cannot be undone.

Say which tickets, or those of a company that were decided long ago, or a tracking number: then the
number, the order and the places of the parcel go as well. How many tickets and shipments that are
has to be confirmed: it is asked for on a terminal, else give --confirm."""
    example = """python manage.py anonymise --ticket 12 13 --confirm 2
python manage.py anonymise --tracking-number 1Z999AA10123456784 --company 7 --confirm 2
python manage.py anonymise --company 7 --older-than 365 --dry-run
python manage.py anonymise --company 7 --older-than 365 --confirm 1204"""
    rehearses = True
    private = frozenset({"tracking_number"})

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--ticket", type=int, nargs="+", default=[], metavar="ID")
        parser.add_argument("--tracking-number", metavar="NUMBER", help=NUMBER_HELP)
        parser.add_argument("--company", type=int, dest="company_id", metavar="ID")
        parser.add_argument("--older-than", type=float, metavar="DAYS", help=HELP)
        parser.add_argument("--confirm", type=int, metavar="N", help="how many they are")

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        shipments = ", ".join(str(key) for key in select(**options)[1])
        return f"shipment {shipments}" if shipments else "", options.get("company_id")

    def run(self, *args: Any, dry_run: bool, confirm: int | None, **options: Any) -> CommandResult:
        tickets, shipments = select(**options)
        what = format_count(tickets, "ticket")
        if shipments:
            what += " and " + format_count(shipments, "shipment")
        try:
            anonymising.check_decided(tickets)
            if dry_run:
                counts = {"tickets": len(tickets), "shipments": len(shipments)}
                return CommandResult(f"would anonymise {what}", counts)
            self.confirm_number(what, len(tickets) + len(shipments), confirm)
            counts = anonymising.anonymise(tickets, shipments, show=self.show)
        except anonymising.NotDecided as error:
            raise CommandError(str(error)) from error
        rows = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
        return CommandResult(f"anonymised {what}: {rows or 'nothing was left'}", counts)

    def confirm_number(self, what: str, number: int, confirm: int | None) -> None:
        """Raise CommandError unless the number of rows is confirmed, by option or prompt."""
        if confirm is None and self.stdout.isatty():
            answer = input(f"This blanks {what} and cannot be undone. Type {number} to go on: ")
            confirm = int(answer) if answer.strip().isdecimal() else None
        if confirm != number:
            raise CommandError(f"Confirm with --confirm {number}. Nothing was blanked.")


def select(
    ticket: list[int],
    tracking_number: str | None,
    company_id: int | None,
    older_than: float | None,
    **_: Any,
) -> tuple[list[int], list[int]]:
    """Return the ids of the selected tickets and shipments. Raises CommandError."""
    chosen = [bool(ticket), tracking_number is not None, older_than is not None]
    if sum(chosen) != 1 or (ticket and company_id) or (older_than is not None and not company_id):
        raise CommandError(
            "Say --ticket ID, or --tracking-number NUMBER, or both --company ID and"
            " --older-than DAYS."
        )
    if ticket:
        return sorted(set(ticket)), []
    if tracking_number is not None:
        shipments = anonymising.shipments_numbered(tracking_number, company_id)
        if not shipments:
            raise CommandError("There is no shipment with this tracking number.")
        return anonymising.tickets_about(shipments), shipments
    if older_than is None or company_id is None or not 0 <= older_than <= 36_500:
        raise CommandError("--older-than takes a number of days between 0 and 36500.")
    before = timezone.now() - timedelta(days=older_than)
    return anonymising.decided_long_ago(company_id, before), []


def format_count(ids: list[int], thing: str) -> str:
    return f"{len(ids)} {thing}{'' if len(ids) == 1 else 's'}"
