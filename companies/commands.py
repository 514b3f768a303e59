"""Base of the commands for operators: example, --json, --dry-run, progress, audit log."""

import json
import os
import re
import sys
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from companies import audit
from companies.models import AuditEntry
from core.data.database_words import database_in_words
from core.values.times import read_time

LONGEST_DAYS = 36_500
AGO = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class CommandResult(NamedTuple):
    """Output of a command: `text` for people, `data` for programs with --json.

    Long ones are iterators: of lines, and of objects, each of which becomes a line of JSON.
    `outcome` goes into the audit log and must hold no secret. With `failed` the command exits with
    1; a sentence there goes to standard error.
    """

    text: str | Iterator[str]
    data: Any
    outcome: str = audit.OUTCOME_DONE
    failed: bool | str = False


class OperatorCommand(BaseCommand):
    """A command whose `run` does the work and returns a CommandResult.

    Every run is written to the audit log with its arguments, except one with --dry-run, and those
    of a command that changes nothing (`changes`).
    """

    # Usage below its --help; a line for each command.
    example = ""
    changes = True
    # True to offer --dry-run.
    rehearses = False
    # Arguments that the audit log leaves out: secrets, people's names and addresses, their texts.
    private: frozenset[str] = frozenset()
    # True if this run prints JSON.
    as_json = False

    def run(self, *args: Any, **options: Any) -> CommandResult:
        """Do the work. Raises CommandError for what the operator has to correct."""
        raise NotImplementedError

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        """Return the object of the act, in a few words, and its company's id if it has one."""
        return "", options.get("company_id")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        if self.rehearses:
            parser.add_argument(
                "--dry-run", action="store_true", help="say what would be done, and do nothing"
            )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Keeps the lines of the example.
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        # An abbreviation must not be taken for an option that deletes.
        kwargs["allow_abbrev"] = False
        if self.example:
            lines = "\n".join(f"  {line}" for line in self.example.splitlines())
            kwargs["epilog"] = f"example:\n{lines}"
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        own = {name: value for name, value in options.items() if name not in DJANGO_S}
        self.as_json = own.pop("json")
        with database_in_words():
            try:
                answer = self.audited(own)
            finally:
                self.show("")
            self.say(answer)
        if isinstance(answer.failed, str) and answer.failed:
            raise CommandError(answer.failed)
        if answer.failed:
            raise SystemExit(1)

    def say(self, answer: CommandResult) -> None:
        """Write the output, which a long command computes meanwhile."""
        try:
            for text in json_lines(answer.data) if self.as_json else text_lines(answer.text):
                self.stdout.write(text)
                self.stdout.flush()
        except BrokenPipeError:
            # The reader has seen enough, as with `| head`. Nothing must be flushed at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def acts(self, options: dict[str, Any]) -> bool:
        """Return whether a run with these options changes anything."""
        return self.changes and not options.get("dry_run")

    def audited(self, options: dict[str, Any]) -> CommandResult:
        if not self.acts(options):
            return self.run(**options)
        about, company_id = self.about(options)
        arguments = {
            name: value if isinstance(value, bool | int) else str(value)
            for name, value in options.items()
            if value not in (None, "", [], False) and name not in self.private
        }
        with audit.auditing(
            self.name,
            actor=audit.shell_user(),
            via=AuditEntry.Via.COMMAND,
            about=about,
            company_id=company_id,
            details=arguments,
            private=[str(options[name]) for name in self.private if options.get(name)],
        ) as entry:
            answer = self.run(**options)
            entry.outcome = answer.outcome
        return answer

    @property
    def name(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    def show(self, text: str) -> None:
        """Show progress on a terminal, in a line that the next one replaces."""
        if self.stdout.isatty():
            self.stdout.write(f"\r\033[K{text}", ending="")
            self.stdout.flush()


def text_lines(text: str | Iterator[str]) -> Iterable[str]:
    return [text] if isinstance(text, str) else text


def json_lines(data: Any) -> Iterable[str]:
    """Return one JSON text, or one line for each object of an iterator."""
    if isinstance(data, Iterator):
        return (json.dumps(each, ensure_ascii=False, default=json_value) for each in data)
    return [json.dumps(data, indent=2, ensure_ascii=False, default=json_value)]


def json_value(value: Any) -> str:
    """Encode what JSON lacks: times in ISO 8601, everything else as text."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def for_terminal(text: str) -> str:
    """Replace characters that could move the cursor or colour lines of a terminal."""
    return "".join(each if each.isprintable() else "�" for each in text)


def parse_days(days: float | None, option: str = "--expires-in") -> timedelta | None:
    """Convert a number of days. Raises CommandError if it is out of range."""
    if days is None:
        return None
    if not 0 < days <= LONGEST_DAYS:
        raise CommandError(f"{option} takes a number of days between 0 and {LONGEST_DAYS}.")
    return timedelta(days=days)


def parse_moment(text: str) -> datetime:
    """Parse a time: ISO 8601, in UTC without an offset, or an age such as 90m, 24h or 7d."""
    if match := AGO.fullmatch(text):
        try:
            return timezone.now() - timedelta(**{UNITS[match[2]]: int(match[1])})
        except OverflowError as error:
            raise ArgumentTypeError("That is too long ago.") from error
    try:
        return read_time(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{error} Or how long ago: 90m, 24h, 7d.") from error


# Options that Django gives every command.
DJANGO_S = frozenset(
    {
        "force_color",
        "no_color",
        "pythonpath",
        "settings",
        "skip_checks",
        "stderr",
        "stdout",
        "traceback",
        "verbosity",
    }
)
