from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from companies.api import bundles, idempotency
from companies.old_rows import delete_in_steps, delete_oldest
from deliveries.upkeep import pruning
from desk.people.resets import forget_requests
from desk.people.seen_sessions import forget_unseen
from shipments.pruning import prune_updates
from tickets.models import Notification, Ticket, Watch

# Each with the column that says how old a row is.
LOGS = (
    (LogEntry, "action_time"),
    (AccessAttempt, "attempt_time"),
    (AccessLog, "attempt_time"),
    (AccessFailureLog, "attempt_time"),
)


class Command(BaseCommand):
    help = """Delete what is older than a number of days: attempts, finished deliveries, their
events, tracking updates, agents' notifications, the log of the admin pages and of sign-ins. Also
sessions that have expired, kept answers to Idempotency-Key older than a day, and that agents watch
tickets which were decided before that.

Every step is short and committed by itself, so the command may be stopped and started again.
Tracking updates stay while anything newer is known of their shipment, or a ticket about it is open.

Example, once a day:
  python manage.py prune --older-than 30"""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # As it is written: the example on a line of its own.
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--older-than", type=float, required=True, metavar="DAYS")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be deleted, delete nothing"
        )

    def handle(self, *args: Any, older_than: float, dry_run: bool, **options: Any) -> None:
        if not 0 <= older_than <= 36500:
            raise CommandError("--older-than takes a number of days between 0 and 36500.")
        before = timezone.now() - timedelta(days=older_than)
        show = self.show if self.stdout.isatty() else ignore
        pruning.prune(before, tell=self.tell, show=show, dry_run=dry_run)
        self.prune_others(before, show, dry_run)

    def prune_others(self, before: datetime, show: Callable[[str], None], dry_run: bool) -> None:
        verb = "would delete" if dry_run else "deleted"
        open_tickets = Ticket.objects.open().exclude(shipment_id=None)
        updates = prune_updates(before, needed=open_tickets, dry_run=dry_run, show=show)
        self.tell(f"{verb} {updates} tracking updates")
        for model, time in LOGS:
            rows = model._base_manager.all()
            old = delete_oldest(rows, time, before, dry_run=dry_run, show=show)
            self.tell(f"{verb} {old} old rows of {model._meta.verbose_name_plural}")
        expired = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
        self.tell(f"{verb} {delete_in_steps(expired, dry_run=dry_run)} expired sessions")
        forget_unseen(dry_run=dry_run)
        forget_requests(dry_run=dry_run)
        forgotten = idempotency.forget_old_answers(dry_run=dry_run)
        forgotten += bundles.forget_old_bundles(dry_run=dry_run)
        self.tell(f"{verb} {forgotten} kept answers older than a day")
        watched = Watch.objects.filter(ticket__decided_at__lt=before).order_by()
        self.tell(f"{verb} {delete_in_steps(watched, dry_run=dry_run)} watches of decided tickets")
        told = Notification.objects.filter(created_at__lt=before).order_by("created_at")
        self.tell(f"{verb} {delete_in_steps(told, dry_run=dry_run)} notifications")

    def tell(self, line: str) -> None:
        # What is shown of progress stands on the same line.
        self.stdout.write(f"\r\033[K{line}" if self.stdout.isatty() else line)

    def show(self, text: str) -> None:
        self.stdout.write(f"\r\033[K{text}", ending="")
        self.stdout.flush()


def ignore(text: str) -> None:
    """Progress is for people who watch."""
