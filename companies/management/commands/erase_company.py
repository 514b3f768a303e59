import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import erased_lists, erasing
from companies.commands import CommandResult, OperatorCommand, for_terminal
from companies.models import Company
from companies.services import UnknownCompany


class Command(OperatorCommand):
    help = """Erase a company: texts, names, addresses, secrets and files go, from tickets, history,
events, attempts and everything else; ids, times, statuses and amounts stay. This cannot be undone.

From the first moment the company is inactive, for ever. If one of its tokens was used lately, the
command first waits for requests under way, two minutes at most. All of it goes in short steps; what
was interrupted goes on when the command is run again. Backups still hold what they held: keep the
output of --list outside of the database, and run --again with it behind every restore."""
    example = """python manage.py erase_company 7 --dry-run
python manage.py erase_company 7 --confirm "Acme Ltd"
python manage.py erase_company --list
python manage.py erase_company --again erased.jsonl"""
    rehearses = True
    # It is the name of the company.
    private = frozenset({"confirm"})
    last_progress = ""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("company_id", type=int, nargs="?", metavar="COMPANY_ID")
        parser.add_argument("--confirm", metavar="NAME", help="its name, for who is not asked")
        parser.add_argument("--list", action="store_true", help="say which were erased")
        parser.add_argument("--again", metavar="FILE", help="erase again what --list has written")

    def acts(self, options: dict[str, Any]) -> bool:
        return not options["list"] and super().acts(options)

    def run(self, **options: Any) -> CommandResult:
        if options["list"]:
            return list_erased()
        if options["again"]:
            return self.again(options["again"], dry_run=options["dry_run"])
        company_id = options["company_id"]
        if company_id is None:
            raise CommandError("Say which company, or --list, or --again FILE.")
        try:
            company = erasing.company_to_erase(company_id)
            if options["dry_run"]:
                return rehearsal_result(erasing.count_parts(company_id, self.show))
            self.confirm(company, options["confirm"])
            counts = erasing.erase_all_of(company_id, show=self.show_progress).counts
        except (UnknownCompany, erasing.Overtaken) as error:
            raise CommandError(str(error)) from error
        return erasure_result({company_id: counts})

    def show_progress(self, text: str) -> None:
        """Without a terminal, write each kind of progress once: it must not look as if it hung."""
        kind = text.partition(":")[0]
        if not self.stdout.isatty() and kind != self.last_progress:
            self.stderr.write(text)
        self.last_progress = kind
        self.show(text)

    def confirm(self, company: Company, answer: str | None) -> None:
        """Ask for the company's name. Raises CommandError unless it is right."""
        if answer is None and self.stdout.isatty():
            name = for_terminal(company.name)
            answer = input(f"This erases {name} and cannot be undone. Write its name: ")
        if answer is None:
            raise CommandError("Confirm with --confirm NAME, the name of the company.")
        if answer.strip() != company.name.strip():
            raise CommandError(f"That is not the name of company {company.pk}. Nothing was erased.")

    def again(self, file: str, *, dry_run: bool) -> CommandResult:
        """Erase listed companies that exist and are as old; newer ones reuse an id."""
        try:
            due = erased_lists.still_due(erased_lists.read_list(Path(file)))
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if dry_run:
            return CommandResult(f"would erase {len(due)} companies: {due}", {"companies": due})
        return erasure_result(erased_lists.erase_again(due, self.show_progress))


def list_erased() -> CommandResult:
    companies = erasing.erased_companies()

    def lines() -> Iterator[str]:
        # The same lines for people: the output is saved, and read by --again.
        for company_id, at in companies:
            yield json.dumps({"company_id": company_id, "erased_at": at.isoformat()})

    data = ({"company_id": company_id, "erased_at": at} for company_id, at in companies)
    return CommandResult(lines(), data)


def rehearsal_result(counts: dict[str, int]) -> CommandResult:
    lines = [f"would blank {number} {kind}" for kind, number in counts.items()]
    return CommandResult("\n".join(lines), counts)


def erasure_result(erased: dict[int, dict[str, int]]) -> CommandResult:
    lines = [
        f"erased company {company_id}: "
        + (", ".join(f"{number} {kind}" for kind, number in counts.items() if number) or "nothing")
        for company_id, counts in erased.items()
    ]
    text = "\n".join(lines) or "nothing to erase"
    data = {"erased": [{"company_id": each, "rows": rows} for each, rows in erased.items()]}
    return CommandResult(text, data, outcome=text.partition("\n")[0][:300])
