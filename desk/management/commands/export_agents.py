import csv
from io import StringIO
from typing import Any

from companies.commands import CommandResult, OperatorCommand
from desk.joining import agent_files


class Command(OperatorCommand):
    help = "Print all agents as the CSV file that import_agents reads."
    example = "python manage.py export_agents"
    changes = False

    def run(self, *args: Any, **options: Any) -> CommandResult:
        rows = agent_files.all_agents()
        text = StringIO()
        writer = csv.DictWriter(text, agent_files.FILE_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return CommandResult(text.getvalue().removesuffix("\n"), rows)
