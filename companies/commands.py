"""What commands for operators share: an example, --json, --dry-run, progress, the audit."""

import json
from argparse import RawDescriptionHelpFormatter
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand, CommandParser

from companies import audit
from companies.models import AuditEntry


class Said(NamedTuple):
    """What a command says: `text` to people, `data` to programs with --json.

    `noted` is what the audit says of it; it must hold no secret. With `failed` it exits with 1.
    """

    text: str
    data: Any
    noted: str = audit.DONE
    failed: bool = False


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
    # Arguments that the audit leaves out: secrets, names and addresses of people.
    private: frozenset[str] = frozenset()

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
        if self.example:
            lines = "\n".join(f"  {line}" for line in self.example.splitlines())
            kwargs["epilog"] = f"example:\n{lines}"
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        own = {name: value for name, value in options.items() if name not in DJANGO_S}
        as_json = own.pop("json")
        try:
            answer = self.audited(own)
        finally:
            self.show("")
        self.stdout.write(
            json.dumps(answer.data, indent=2, ensure_ascii=False, default=str)
            if as_json
            else answer.text
        )
        if answer.failed:
            raise SystemExit(1)

    def audited(self, options: dict[str, Any]) -> Said:
        if not self.changes or options.get("dry_run"):
            return self.run(**options)
        about, company_id = self.about(options)
        given = {
            name: value if isinstance(value, bool | int | float) else str(value)
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
