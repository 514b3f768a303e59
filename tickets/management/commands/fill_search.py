from typing import Any

from django.core.management.base import CommandParser

from companies.commands import OperatorCommand, Said
from tickets.changes.search_entries import count_left, fill_all


class Command(OperatorCommand):
    help = """Write what older tickets are found by: the service does it by itself after an upgrade,
20,000 tickets a minute and more, the newest first. This does it at once.

It works in short steps, each committed by itself, so it may be stopped and started again, and runs
while the service works."""
    example = "python manage.py fill_search"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--progress", action="store_true", help="say how far it is, and no more"
        )

    def acts(self, options: dict[str, Any]) -> bool:
        return not options["progress"]

    def run(self, *args: Any, progress: bool, **options: Any) -> Said:
        if not progress:
            fill_all(lambda left: self.show(upto(left)))
        left = count_left()
        return Said(upto(left) if left else "every ticket can be found", {"left": left})


def upto(left: int) -> str:
    return f"left: tickets up to {left}"
