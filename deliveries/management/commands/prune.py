from datetime import timedelta
from typing import Any

from axes.models import AccessAttempt, AccessLog
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from companies.api import idempotency
from deliveries import pruning


class Command(BaseCommand):
    help = (
        "Delete attempts, finished deliveries and their events older than a number of days, and "
        "sign-in records of that age. Stored responses to Idempotency-Key requests are deleted "
        "after a day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--older-than", type=float, required=True, metavar="DAYS")
        parser.add_argument(
            "--dry-run", action="store_true", help="list what would be deleted, but delete nothing"
        )

    def handle(self, *args: Any, older_than: float, dry_run: bool, **options: Any) -> None:
        if not 0 <= older_than <= 36500:
            raise CommandError("--older-than takes a number of days between 0 and 36500.")
        before = timezone.now() - timedelta(days=older_than)
        pruning.prune(before, tell=self.stdout.write, dry_run=dry_run)
        if not dry_run:
            forgotten = idempotency.forget_old_answers()
            self.stdout.write(f"deleted {forgotten} stored responses to Idempotency-Key requests")
            for log in (AccessAttempt, AccessLog):
                signed_in, _ = log.objects.filter(attempt_time__lt=before).delete()
                self.stdout.write(f"deleted {signed_in} {log._meta.verbose_name_plural}")
