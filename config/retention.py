"""Retention: of each kind of data, what is older than the settings keep it is forgotten.

A task does this by itself, in bounded steps; the command `prune` does the same at once.
Why: decision page retention-runs-by-itself.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import Model
from django.utils import timezone

from companies import audit
from companies.api.kept import forget_kept_answers
from companies.models import AuditEntry
from core.data.old_rows import delete_in_steps, delete_oldest
from core.jobs.failing_rows import NOBODY_S_FAULT, FailingRows
from core.measures import catalogue, counting
from deliveries.models import Replay
from deliveries.upkeep import pruning
from desk.people.resets import forget_requests
from desk.people.seen_sessions import forget_unseen
from shipments.pruning import prune_updates
from tickets.changes.old_files import forget_content
from tickets.models import Notification, PendingAnswer, Ticket, Watch

logger = logging.getLogger(__name__)

# Of each kind in a run of the task; then whatever else waits in the queue has its turn.
MOST_AT_ONCE = 100_000
SIGN_INS = (AccessAttempt, AccessLog, AccessFailureLog)
# Kinds whose whole weeks go at once, however many rows they have.
BY_WEEK = ("deliveries", "tracking")
RETURNED_FOR = timedelta(days=30)
# What goes by settings alone: it is evidence, and nobody means it who has to free a disk.
EVIDENCE = ("audit", "files")


class WeeksInUse(RuntimeError):
    """Old weeks are still there, as they were in use when they should have been dropped."""


@dataclass
class Sweep:
    """One go at all kinds. `lines` says what went, `rows` how many of each kind."""

    # None: by the settings. What the settings keep for ever stays in either case.
    older_than: timedelta | None = None
    dry_run: bool = False
    most: float = math.inf
    show: Callable[[str], None] = lambda text: None
    lines: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    # Partitions that were in use.
    kept: list[str] = field(default_factory=list)
    # Kinds that could not be forgotten, or not whole.
    failed: dict[str, Exception] = field(default_factory=dict)
    now: datetime = field(default_factory=timezone.now)

    @property
    def may_have_more(self) -> bool:
        return any(rows >= self.most for kind, rows in self.rows.items() if kind not in BY_WEEK)

    def before(self, kind: str) -> datetime | None:
        """What is older goes; None where a kind is kept for ever."""
        days = settings.KEEP_DAYS[kind]
        if not days:
            return None
        if self.older_than is None or kind in EVIDENCE:
            return self.now - timedelta(days=days)
        return self.now - self.older_than

    def note(self, kind: str, rows: int, what: str) -> None:
        self.rows[kind] = self.rows.get(kind, 0) + rows
        self.lines.append(f"{'would delete' if self.dry_run else 'deleted'} {rows} {what}")


def forget_old(sweep: Sweep) -> Sweep:
    """Forget what is old of every kind; returns the same sweep, with what went.

    A kind that fails keeps no other.
    """
    for kind, forget in (KINDS | EXPIRED).items():
        before = sweep.now if kind in EXPIRED else sweep.before(kind)
        if before is not None:
            try:
                forget(sweep, before)
            except NOBODY_S_FAULT:
                raise
            except Exception as error:
                sweep.failed[kind] = error
    if not sweep.dry_run:
        for kind, rows in sweep.rows.items():
            if rows:
                counting.count(catalogue.ROWS_FORGOTTEN, kind, by=rows)
    return sweep


def forget_some() -> bool:
    """A run of the task: whether there may be more to do. Raises WeeksInUse."""
    rows, sweep = FailingRows("forget_what_is_old"), forget_old(Sweep(most=MOST_AT_ONCE))
    for kind, error in sweep.failed.items():
        rows.note("old", kind, error)
    rows.forget("old", [kind for kind in KINDS | EXPIRED if kind not in sweep.failed])
    went = {kind: rows for kind, rows in sweep.rows.items() if rows and kind in settings.KEEP_DAYS}
    if went:
        logger.info("forgotten: %s", "; ".join(sweep.lines), extra={"rows": went})
        audit.record_act("prune", actor="retention", via=AuditEntry.Via.TASK, details=went)
    if sweep.kept:
        raise WeeksInUse(f"in use, and dropped by a later run: {', '.join(sweep.kept)}")
    return sweep.may_have_more


def forget_deliveries(sweep: Sweep, before: datetime) -> None:
    """By the settings in whole weeks; to the day where an operator says how old."""
    pruned = pruning.prune(
        before,
        tell=sweep.lines.append,
        show=sweep.show,
        dry_run=sweep.dry_run,
        only_weeks=sweep.older_than is None,
    )
    sweep.rows["deliveries"] = pruned.rows
    sweep.kept += pruned.kept
    runs = Replay.objects.filter(ended_at__lt=before).order_by("pk")
    gone = delete_in_steps(runs, dry_run=sweep.dry_run)
    sweep.note("deliveries", gone, "runs of deliveries sent again")


def forget_tracking(sweep: Sweep, before: datetime) -> None:
    """As deliveries: by the settings in whole weeks, else to the day."""
    pruned = prune_updates(
        before,
        pruning.Told(sweep.lines.append, sweep.show, sweep.dry_run),
        needed=Ticket.objects.open().exclude(shipment_id=None),
        only_weeks=sweep.older_than is None,
    )
    sweep.rows["tracking"] = pruned.rows
    sweep.kept += pruned.kept


def forget_files(sweep: Sweep, before: datetime) -> None:
    gone = forget_content(before, dry_run=sweep.dry_run, show=sweep.show, most=sweep.most)
    sweep.note("files", gone, "files of decided tickets")


def forget_log(sweep: Sweep, kind: str, model: type[Model], time: str, before: datetime) -> None:
    rows: Any = model._base_manager.all()
    old = delete_oldest(rows, time, before, dry_run=sweep.dry_run, show=sweep.show, most=sweep.most)
    sweep.note(kind, old, f"old rows of {model._meta.verbose_name_plural}")


def forget_desk_log(sweep: Sweep, before: datetime) -> None:
    forget_log(sweep, "desk_log", LogEntry, "action_time", before)


def forget_sign_ins(sweep: Sweep, before: datetime) -> None:
    for model in SIGN_INS:
        forget_log(sweep, "sign_ins", model, "attempt_time", before)


def forget_audit(sweep: Sweep, before: datetime) -> None:
    old = AuditEntry.objects.filter(at__lt=before).order_by("at")
    gone = delete_in_steps(old, dry_run=sweep.dry_run, most=sweep.most)
    sweep.note("audit", gone, "entries of the audit")


def forget_notifications(sweep: Sweep, before: datetime) -> None:
    watched = Watch.objects.filter(ticket__decided_at__lt=before).order_by()
    gone = delete_in_steps(watched, dry_run=sweep.dry_run, most=sweep.most)
    sweep.note("notifications", gone, "watches of decided tickets")
    told = Notification.objects.filter(created_at__lt=before).order_by("created_at")
    gone = delete_in_steps(told, dry_run=sweep.dry_run, most=sweep.most)
    sweep.note("notifications", gone, "notifications")


def forget_sessions(sweep: Sweep, now: datetime) -> None:
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date")
    gone = delete_in_steps(expired, dry_run=sweep.dry_run, most=sweep.most)
    sweep.note("sessions", gone, "expired sessions")
    forget_unseen(dry_run=sweep.dry_run)
    forget_requests(dry_run=sweep.dry_run)


def forget_answers(sweep: Sweep, now: datetime) -> None:
    forgotten = forget_kept_answers(dry_run=sweep.dry_run, most=sweep.most)
    sweep.note("answers", forgotten, "kept answers older than a day")


def forget_returned(sweep: Sweep, now: datetime) -> None:
    """Forget what agents took back, or had held, and neither sent nor discarded."""
    old = PendingAnswer.objects.returned().filter(created_at__lt=now - RETURNED_FOR)
    gone = old.count() if sweep.dry_run else old.forget()
    sweep.note("returned", gone, "answers that were taken back or held")


KINDS: dict[str, Callable[[Sweep, datetime], None]] = {
    "deliveries": forget_deliveries,
    "tracking": forget_tracking,
    "files": forget_files,
    "desk_log": forget_desk_log,
    "sign_ins": forget_sign_ins,
    "audit": forget_audit,
    "notifications": forget_notifications,
}
# What has its own end, whatever the settings say.
EXPIRED: dict[str, Callable[[Sweep, datetime], None]] = {
    "sessions": forget_sessions,
    "answers": forget_answers,
    "returned": forget_returned,
}
