import json
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from companies.reencryption import Census, reencrypt_all, take_census


class Command(BaseCommand):
    help = """Encrypt every stored secret with the first of FIELD_KEYS, the newest, and say how many
each key still opens. Secrets that a version before stored in clear are encrypted too.

It works in short batches, each committed by itself, so it may be stopped and started again, and
runs while the service works. It exits with 1 if something is left that the newest key does not
open.

Example, after a change of FIELD_KEYS:
  python manage.py reencrypt --dry-run
  python manage.py reencrypt"""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, dry_run: bool, json: bool, **options: Any) -> None:
        show = self.show if self.stdout.isatty() else ignore_progress
        rewritten = 0 if dry_run else reencrypt_all(show)
        census = take_census(show)
        if self.stdout.isatty():
            self.stdout.write("\r\033[K", ending="")
        self.stdout.write(
            census_as_json(rewritten, census) if json else census_as_text(rewritten, census)
        )
        if census.left and not dry_run:
            raise CommandError(f"{census.left} secrets are not encrypted with the newest key.")

    def show(self, text: str) -> None:
        self.stdout.write(f"\r\033[K{text}", ending="")
        self.stdout.flush()


def census_as_text(rewritten: int, census: Census) -> str:
    lines = [f"{rewritten} rewritten"]
    for position, count in enumerate(census.by_key, start=1):
        lines.append(f"key {position} of FIELD_KEYS opens {count}")
    lines.append(f"no key opens {census.unreadable}")
    lines += [f"  {row}" for row in census.unreadable_rows]
    lines.append(f"in clear: {census.plain}")
    return "\n".join(lines)


def census_as_json(rewritten: int, census: Census) -> str:
    return json.dumps(
        {
            "rewritten": rewritten,
            "by_key": census.by_key,
            "unreadable": census.unreadable,
            "unreadable_rows": census.unreadable_rows,
            "in_clear": census.plain,
        }
    )


def ignore_progress(text: str) -> None:
    """Progress is for people who watch."""
