"""Retention of tracking updates, files, notifications and returned answers."""

from datetime import datetime, timedelta

from core.retention import Sweep, kind
from deliveries.upkeep import pruning
from shipments.pruning import UPDATES, prune_updates
from tickets.changes.old_files import forget_content
from tickets.models import Notification, PendingAnswer, Ticket, Watch

RETURNED_FOR = timedelta(days=30)


@kind("tracking", old_weeks=lambda before: pruning.weeks_before(UPDATES, before))
def forget_tracking(sweep: Sweep, before: datetime) -> None:
    pruned = prune_updates(
        before,
        pruning.PruneRun(sweep.lines.append, sweep.show, sweep.dry_run),
        needed=Ticket.objects.open().exclude(shipment_id=None),
        only_weeks=sweep.only_weeks,
    )
    sweep.rows["tracking"] = pruned.rows
    sweep.kept_weeks += pruned.kept_weeks


@kind("files", is_evidence=True)
def forget_files(sweep: Sweep, before: datetime) -> None:
    count = forget_content(before, dry_run=sweep.dry_run, show=sweep.show, most=sweep.most)
    sweep.note("files", count, "files of decided tickets")


@kind("notifications")
def forget_notifications(sweep: Sweep, before: datetime) -> None:
    watched = Watch.objects.filter(ticket__decided_at__lt=before).order_by()
    sweep.delete("notifications", watched, "watches of decided tickets")
    old = Notification.objects.filter(created_at__lt=before).order_by("created_at")
    sweep.delete("notifications", old, "notifications")


@kind("returned", expires=True)
def forget_returned(sweep: Sweep, now: datetime) -> None:
    """Delete answers that agents took back or that were held, if neither sent nor discarded."""
    old = PendingAnswer.objects.returned().filter(created_at__lt=now - RETURNED_FOR)
    count = old.count() if sweep.dry_run else old.forget()
    sweep.note("returned", count, "answers that were taken back or held")
