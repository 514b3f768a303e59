from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from core.retention import Sweep, forget_old


class Command(OperatorCommand):
    help = """Forget at once what is older than the settings KEEP_…_DAYS say, as a task does by
itself a few times a day: finished deliveries with their attempts and events in whole weeks,
and tracking updates too; what is in the files of decided tickets, logs, the audit, notifications,
sessions and kept answers.

With --older-than all but the audit and files goes by that many days instead, deliveries and
tracking updates to the day: for a disk that fills up. What a setting keeps for ever stays. Every
step is short and committed by itself, so the command may be stopped and started again. Tracking
updates stay while anything newer is known of their shipment, or a ticket about it is open."""
    example = """python manage.py prune --dry-run
python manage.py prune --older-than 14"""
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--older-than", type=float, metavar="DAYS", help="not as settings say")

    def run(
        self, *args: Any, older_than: float | None, dry_run: bool, **options: Any
    ) -> CommandResult:
        if older_than is not None and not 0 <= older_than <= 36500:
            raise CommandError("--older-than takes a number of days between 0 and 36500.")
        days = None if older_than is None else timedelta(days=older_than)
        sweep = forget_old(Sweep(older_than=days, dry_run=dry_run, show=self.show))
        failed = "; ".join(f"{kind}: {error}" for kind, error in sweep.failed.items())
        went = {kind: rows for kind, rows in sweep.rows.items() if rows}
        return CommandResult(
            "\n".join(sweep.lines),
            {"forgotten": sweep.rows, "weeks_in_use": sweep.kept_weeks},
            outcome=", ".join(f"{rows} {kind}" for kind, rows in went.items()) or "nothing was old",
            failed=failed and f"Not forgotten, or not all of it: {failed}",
        )
