import json
import os
import stat
import sys
from contextlib import AbstractContextManager, nullcontext
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any, cast

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from companies.commands import CommandResult, OperatorCommand
from shipments.feed import ingesting
from shipments.feed.ingesting import Stopped, Tally

INTERRUPTED = 130


class Command(OperatorCommand):
    help = (
        "Import the shipping platform's feed: JSON lines of shipments, tracking updates, "
        "surcharges and incidences. The same line twice changes nothing, so a file can be "
        "imported again. Bad lines are reported on stderr, counts on stdout; exits with 1 if any "
        "line was bad. The counts are JSON, with --json or without. docs/operations/feed.md "
        "has the fields of each kind."
    )
    example = "python manage.py ingest feed.jsonl"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", help="path of a file; - reads standard input")

    def run(self, *args: Any, file: str, **options: Any) -> CommandResult:
        tally = Tally()
        try:
            with open_input(file) as stream:
                self.ingest(stream, tally)
        except OSError as error:
            if tally.reached:
                self.print_counts(tally)
            raise CommandError(f"{file}: {error.strerror or error}") from error
        except Stopped as error:
            self.print_counts(tally)
            raise CommandError(f"{stop_message(tally)} The database: {error}") from error
        except KeyboardInterrupt as error:
            self.print_counts(tally)
            raise CommandError(stop_message(tally), returncode=INTERRUPTED) from error
        counts = counts_of(tally)
        bad = f"{tally.bad} of {tally.read} lines were bad." if tally.bad else False
        return CommandResult(one_line(counts), iter([counts]), one_line(counts), bad)

    def ingest(self, stream: BufferedIOBase, tally: Tally) -> None:
        progress = tqdm(
            total=size(stream),
            unit="B",
            unit_scale=True,
            file=sys.stderr,
            disable=not sys.stderr.isatty(),
        )

        def report(number: int, reason: str) -> None:
            with progress.external_write_mode(file=sys.stderr):
                self.stderr.write(f"line {number}: {reason}")

        def advance() -> None:
            progress.update(tally.bytes - progress.n)

        with progress:
            ingesting.ingest(stream, tally, report=report, advance=advance)

    def print_counts(self, tally: Tally) -> None:
        self.stdout.write(one_line(counts_of(tally)))


def counts_of(tally: Tally) -> dict[str, int]:
    return {
        "read": tally.read,
        "changed": tally.changed,
        "events": tally.events,
        "bad": tally.bad,
        "known": tally.repeats,
    }


def one_line(counts: dict[str, int]) -> str:
    return json.dumps(counts, separators=(",", ":"))


def open_input(file: str) -> AbstractContextManager[BufferedIOBase]:
    if file == "-":
        return nullcontext(cast(BufferedReader, sys.stdin.buffer))
    return Path(file).open("rb")


def size(stream: BufferedIOBase) -> int | None:
    """Return the size of a regular file in bytes; None for a pipe."""
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def stop_message(tally: Tally) -> str:
    return (
        f"Stopped after line {tally.reached}. All lines up to it are recorded. To continue, run "
        "ingest again with the same input: recorded lines change nothing."
    )
