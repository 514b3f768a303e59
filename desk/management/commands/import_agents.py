from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import OperatorCommand, Said
from desk.joining.adding import add_agents
from desk.joining.agent_rows import COLUMNS, BadFile, file_text, read_rows


class Command(OperatorCommand):
    help = (
        "Check a CSV file of agents; with --apply, add them all and send each an invitation. "
        f"Columns: {', '.join(COLUMNS)}."
    )
    example = "python manage.py import_agents agents.csv --apply --url https://desk.example.com"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--apply", action="store_true", help="add them; default: only check")
        parser.add_argument(
            "--url", default="", help="where the desk is, such as https://desk.example.com"
        )

    def acts(self, options: dict[str, Any]) -> bool:
        return bool(options["apply"])

    def run(self, *args: Any, file: Path, apply: bool, url: str, **options: Any) -> Said:
        if apply and not url.startswith(("https://", "http://")):
            raise CommandError("Give --url: the invitations have links to the desk.")
        try:
            rows = read_rows(file_text(file.read_bytes()))
        except (OSError, BadFile) as error:
            raise CommandError(str(error)) from error
        if problems := add_agents(rows, by=None, url=url, check=not apply):
            for problem in problems:
                self.stderr.write(str(problem))
            raise CommandError("No agent was added.")
        done = "added and invited" if apply else "can be added; nothing was changed. Use --apply."
        said = f"{len(rows)} agents {done}"
        return Said(said, {"agents": len(rows), "added": apply}, said)
