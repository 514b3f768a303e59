from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import exporting
from companies.commands import CommandResult, OperatorCommand
from companies.services import UnknownCompany


class Command(OperatorCommand):
    help = """Write all that is kept of a company to a ZIP file: tickets, files, shipments, events,
deliveries, webhooks and more, a table in each file as JSON Lines, with a README. It holds no
secret, and nothing that was written among agents unless --internal is given.

Only you can read the file. Give it to the company on a safe way, and delete it then."""
    example = """python manage.py export_company 7 --to acme.zip
python manage.py export_company 7 --to acme.zip --internal --json"""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("company_id", type=int, metavar="COMPANY_ID")
        parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="to be written")
        parser.add_argument(
            "--internal", action="store_true", help="also notes among agents, and who did what"
        )

    def run(
        self, *args: Any, company_id: int, to: Path, internal: bool, **options: Any
    ) -> CommandResult:
        try:
            counts = exporting.export_all_of(company_id, to, internal=internal, show=self.show)
        except UnknownCompany as error:
            raise CommandError(str(error)) from error
        except FileExistsError as error:
            raise CommandError(f"{error} Choose another name.") from error
        except OSError as error:
            raise CommandError(f"{to} cannot be written: {error}") from error
        rows = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        outcome = f"exported {sum(counts.values())} rows and files"
        return CommandResult(f"{to}: {rows}", {"file": str(to), "rows": counts}, outcome=outcome)
