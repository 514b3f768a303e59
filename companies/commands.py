"""What commands for operators share: an example, --json, --dry-run, progress, the audit."""

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


class Said(NamedTuple):
    """What a command says: `text` to people, `data` to programs with --json.

    Long ones are iterators: of lines, and of objects, each of which becomes a line of JSON.
    `noted` is what the audit says of it; it must hold no secret. With `failed` it exits with 1; a
    sentence there goes to standard error.
    """

    text: str | Iterator[str]
    data: Any
    noted: str = audit.DONE
    failed: bool | str = False


class OperatorCommand(BaseCommand):
    """A command whose `run` does the work and returns a Said.

    Every run is written to the audit with its arguments, but one with --dry-run, and those of a
    command that changes nothing (`changes`).
    """

    # How it is used, below its --help; a line for each command.
    example = ""
    changes = True
    # Whether --dry-run is offered.
    rehearses = False
    # Arguments that the audit leaves out: secrets, names and addresses of people, what they write.
    private: frozenset[str] = frozenset()
    # Whether this run was asked for JSON.
    as_json = False

    def run(self, *args: Any, **options: Any) -> Said:
        """Do the work. Raises CommandError for what the operator has to correct."""
        raise NotImplementedError

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        """What it is done to, in a few words, and the id of its company if it has one."""
        return "", options.get("company_id")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        if self.rehearses:
            parser.add_argument(
                "--dry-run", action="store_true", help="say what would be done, and do nothing"
            )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # As it is written: the example on lines of its own.
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        # What is typed in part must not be taken for an option that deletes.
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

    def say(self, answer: Said) -> None:
        """Write what it says, which a long one only finds out meanwhile."""
        try:
            for text in json_lines(answer.data) if self.as_json else text_lines(answer.text):
                self.stdout.write(text)
                self.stdout.flush()
        except BrokenPipeError:
            # Whoever reads has seen enough, as behind `| head`. Nothing is left to say at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def acts(self, options: dict[str, Any]) -> bool:
        """Whether a run with these options changes anything."""
        return self.changes and not options.get("dry_run")

    def audited(self, options: dict[str, Any]) -> Said:
        if not self.acts(options):
            return self.run(**options)
        about, company_id = self.about(options)
        given = {
            name: value if isinstance(value, bool | int) else str(value)
            for name, value in options.items()
            if value not in (None, "", [], False) and name not in self.private
        }
        with audit.noted(
            self.name,
            actor=audit.shell_user(),
            via=AuditEntry.Via.COMMAND,
            about=about,
            company_id=company_id,
            details=given,
            private=[str(options[name]) for name in self.private if options.get(name)],
        ) as entry:
            answer = self.run(**options)
            entry.outcome = answer.noted
        return answer

    @property
    def name(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    def show(self, text: str) -> None:
        """Say how far it is, on a terminal, in a line that the next one replaces."""
        if self.stdout.isatty():
            self.stdout.write(f"\r\033[K{text}", ending="")
            self.stdout.flush()


def text_lines(text: str | Iterator[str]) -> Iterable[str]:
    return [text] if isinstance(text, str) else text


def json_lines(data: Any) -> Iterable[str]:
    """One text, or of an iterator a line for each."""
    if isinstance(data, Iterator):
        return (json.dumps(each, ensure_ascii=False, default=json_value) for each in data)
    return [json.dumps(data, indent=2, ensure_ascii=False, default=json_value)]


def json_value(value: Any) -> str:
    """What JSON has no way to write: times in ISO 8601, everything else as a text."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def for_terminal(text: str) -> str:
    """Foreign text that can move no cursor and colour no line of a terminal."""
    return "".join(each if each.isprintable() else "�" for each in text)


def days_given(days: float | None, option: str = "--expires-in") -> timedelta | None:
    """A lifetime from an argument. Raises CommandError for what is none."""
    if days is None:
        return None
    if not 0 < days <= LONGEST_DAYS:
        raise CommandError(f"{option} takes a number of days between 0 and {LONGEST_DAYS}.")
    return timedelta(days=days)


def moment_given(text: str) -> datetime:
    """An argument: an ISO 8601 time, in UTC without an offset, or how long ago: 90m, 24h, 7d."""
    if found := AGO.fullmatch(text):
        try:
            return timezone.now() - timedelta(**{UNITS[found[2]]: int(found[1])})
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
