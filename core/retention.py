"""Retention: deletes data of each kind that is older than its setting allows.

A job does this by itself, in bounded steps; the command `prune` does the same at once. An app
registers its kinds in a module `retention`.
Why: decision page retention-runs-by-itself.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules

from core.data.old_rows import delete_in_steps, delete_oldest
from core.jobs.failing_rows import DATABASE_ERRORS, FailingRows
from core.measures import catalogue, counting

logger = logging.getLogger(__name__)

# Rows of each kind that a run of the job deletes at most, so that other jobs get their turn.
MOST_AT_ONCE = 100_000


class WeeksInUse(RuntimeError):
    """Old weeks could not be dropped, as they were in use."""


@dataclass
class Sweep:
    """A run over all kinds. `lines` reports what was deleted, `rows` how many of each kind."""

    # Age of what is deleted; None goes by the settings. Data they keep for ever stays either way.
    older_than: timedelta | None = None
    dry_run: bool = False
    most: float = math.inf
    show: Callable[[str], None] = lambda text: None
    lines: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    # Partitions that were in use, and so could not be dropped.
    kept_weeks: list[str] = field(default_factory=list)
    # Kinds that could not be deleted, or only in part.
    failed: dict[str, Exception] = field(default_factory=dict)
    now: datetime = field(default_factory=timezone.now)

    @property
    def only_weeks(self) -> bool:
        """True if whole weeks are dropped by the settings; `older_than` counts to the day."""
        return self.older_than is None

    @property
    def may_have_more(self) -> bool:
        """True if a kind has reached `most`; whole weeks are dropped at once, however large."""
        kinds = all_kinds()
        reached = (name for name, rows in self.rows.items() if rows >= self.most)
        return any(not kinds[name].old_weeks for name in reached)

    def by_setting(self) -> dict[str, int]:
        """Return the number of rows deleted by kind, for kinds that have a setting."""
        kinds = all_kinds()
        return {name: rows for name, rows in self.rows.items() if rows and not kinds[name].expires}

    def note(self, kind: str, rows: int, what: str) -> None:
        self.rows[kind] = self.rows.get(kind, 0) + rows
        self.lines.append(f"{'would delete' if self.dry_run else 'deleted'} {rows} {what}")

    def delete(self, kind: str, rows: QuerySet[Any], what: str) -> None:
        """Delete rows in steps, at most `most`, and note how many."""
        count = delete_in_steps(rows, dry_run=self.dry_run, most=self.most)
        self.note(kind, count, what)

    def delete_log(self, kind: str, model: type[Model], time: str, before: datetime) -> None:
        """Delete old rows of a model whose column `time` rises with the key."""
        rows: Any = model._base_manager.all()
        old = delete_oldest(
            rows, time, before, dry_run=self.dry_run, show=self.show, most=self.most
        )
        self.note(kind, old, f"old rows of {model._meta.verbose_name_plural}")

    def refuse_weeks_in_use(self) -> None:
        """Raise WeeksInUse if a week could not be dropped."""
        if self.kept_weeks:
            raise WeeksInUse(f"in use, and dropped by a later run: {', '.join(self.kept_weeks)}")


Forget = Callable[[Sweep, datetime], None]


@dataclass(frozen=True)
class Kind:
    """A kind of data. `forget` deletes what is older than a time.

    Its setting in KEEP_DAYS has its name. A kind that `expires` has none: its rows have an end of
    their own, and `forget` gets the current time. A kind that `is_evidence` follows its setting
    alone, whatever an operator deletes to free a disk. `old_weeks` returns the weeks that were over
    by a time, for a kind whose whole weeks are dropped at once.
    """

    name: str
    forget: Forget
    expires: bool = False
    is_evidence: bool = False
    old_weeks: Callable[[datetime], list[str]] | None = None

    def before(self, sweep: Sweep) -> datetime | None:
        """Return the time before which it is deleted, or None if it is kept for ever."""
        if self.expires:
            return sweep.now
        days = settings.KEEP_DAYS[self.name]
        if not days:
            return None
        if sweep.older_than is None or self.is_evidence:
            return sweep.now - timedelta(days=days)
        return sweep.now - sweep.older_than


registered: dict[str, Kind] = {}


def kind(name: str, **facts: Any) -> Callable[[Forget], Forget]:
    """Register a function that deletes old data of a kind; the parameters are those of Kind."""

    def register(forget: Forget) -> Forget:
        registered[name] = Kind(name, forget, **facts)
        return forget

    return register


@cache
def all_kinds() -> dict[str, Kind]:
    """Return the kinds of all apps by their names: whole weeks first, which free the most."""
    autodiscover_modules("retention")
    order = sorted(registered.values(), key=lambda each: (each.expires, not each.old_weeks))
    return {each.name: each for each in order}


def forget_old(sweep: Sweep) -> Sweep:
    """Delete old data of every kind; return the sweep, with what was deleted.

    A kind that fails does not stop the others.
    """
    for name, each in all_kinds().items():
        before = each.before(sweep)
        if before is not None:
            try:
                each.forget(sweep, before)
            except DATABASE_ERRORS:
                raise
            except Exception as error:
                sweep.failed[name] = error
    if not sweep.dry_run:
        for name, rows in sweep.rows.items():
            if rows:
                counting.count(catalogue.ROWS_FORGOTTEN, name, by=rows)
    return sweep


def forget_some() -> Sweep:
    """Delete as much as one run of the job may; record kinds that fail as failed rows."""
    rows = FailingRows("forget_what_is_old")
    sweep = forget_old(Sweep(most=MOST_AT_ONCE))
    for name, error in sweep.failed.items():
        rows.note("old", name, error)
    rows.forget("old", [name for name in all_kinds() if name not in sweep.failed])
    if went := sweep.by_setting():
        logger.info("forgotten: %s", "; ".join(sweep.lines), extra={"rows": went})
    return sweep
