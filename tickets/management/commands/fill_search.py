from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tickets.changes.search_entries import count_left, fill_all


class Command(BaseCommand):
    help = """Write what older tickets are found by: the service does it by itself after an upgrade,
20,000 tickets a minute and more, the newest first. This does it at once.

It works in short steps, each committed by itself, so it may be stopped and started again, and runs
while the service works.

Example:
  python manage.py fill_search"""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--progress", action="store_true", help="say how far it is, and no more"
        )

    def handle(self, *args: Any, progress: bool, **options: Any) -> None:
        if not progress:
            fill_all(self.show if self.stdout.isatty() else lambda left: None)
        if self.stdout.isatty():
            self.stdout.write("\r\033[K", ending="")
        left = count_left()
        self.stdout.write(f"left: tickets up to {left}" if left else "every ticket can be found")

    def show(self, left: int) -> None:
        self.stdout.write(f"\r\033[Kleft: tickets up to {left}", ending="")
        self.stdout.flush()
