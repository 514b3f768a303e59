from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from desk.joining import agent_files
from desk.joining.agent_rows import BadFile, file_text, read_rows


class Command(OperatorCommand):
    help = (
        "Check a CSV file of agents; with --apply, add those who are new, send each an invitation, "
        "and change or switch off the others. An empty cell leaves an agent as they are. "
        f"Columns: {', '.join(agent_files.FILE_COLUMNS)}."
    )
    example = (
        "python manage.py import_agents agents.csv\n"
        "python manage.py import_agents agents.csv --apply --url https://desk.example.com"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--apply", action="store_true", help="do it; default: only check")
        parser.add_argument(
            "--url",
            default="",
            help="where the desk is, such as https://desk.example.com; needed to invite",
        )

    def acts(self, options: dict[str, Any]) -> bool:
        return bool(options["apply"])

    def run(self, *args: Any, file: Path, apply: bool, url: str, **options: Any) -> CommandResult:
        if url and not url.startswith(("https://", "http://")):
            raise CommandError("--url must begin with https:// or http://.")
        try:
            rows = read_rows(file_text(file.read_bytes()), agent_files.FILE_COLUMNS)
            result = agent_files.import_agents(rows, url=url, check=not apply)
        except (OSError, BadFile) as error:
            raise CommandError(str(error)) from error
        except agent_files.NoAddress as error:
            raise CommandError("Give --url: the invitations have links to the desk.") from error
        if result.problems:
            for problem in result.problems:
                self.stderr.write(str(problem))
            raise CommandError("No agent was added or changed.")
        counts = f"{len(result.added)} added and invited, {len(result.changed)} changed"
        lines = [f"{login}: add" for login in result.added]
        lines += [f"{login}: {', '.join(columns)}" for login, columns in result.changed.items()]
        lines.append(f"{counts}." if apply else f"{counts} with --apply; nothing was changed.")
        data = {"applied": apply, "added": result.added, "changed": result.changed}
        return CommandResult("\n".join(lines), data, counts)
