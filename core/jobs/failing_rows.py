"""Failing rows: work on many rows continues without them, and reports them.

A row that fails is recorded in a table, logged once, and shown at the desk and by /readyz, until it
succeeds after all, or a day after its last failure.
Why: decision page config-one-bad-row-harms-only-itself.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Count, F, Model, QuerySet
from django.utils import timezone

from core.models import FailedRow

logger = logging.getLogger(__name__)
K = TypeVar("K")
M = TypeVar("M", bound=Model)

# No row's fault: the database is away, waits for a lock, or is full. The whole run is repeated.
DATABASE_ERRORS = (OperationalError, InterfaceError)
# With this many failures in one run the rows are not to blame: the run stops.
MOST_FAILURES = 100
REMEMBERED = timedelta(days=1)
LONGEST_KEY, LONGEST_ERROR = 100, 300
# Message for people about an unexpected error; the log has the details.
UNFORESEEN = "An unexpected error. Nothing was changed."


class TooManyFailures(RuntimeError):
    """More rows failed than can be bad themselves; the message has the last failure."""


class Outcome(NamedTuple, Generic[K]):
    """Number of items that succeeded, and the reason for each that did not."""

    done: int
    refused: dict[K, str]


def try_each(
    keys: Iterable[K],
    act: Callable[[K], object],
    *,
    refusals: tuple[type[Exception], ...] = (),
    stops: tuple[type[Exception], ...] = (),
) -> Outcome[K]:
    """Call `act` for each key in a transaction of its own; one that fails does not stop the others.

    Messages of `refusals` are for people; other errors are logged. Raises exceptions of `stops`,
    and database errors when the connection is lost.
    """
    succeeded, refused = 0, {}
    for key in keys:
        try:
            with transaction.atomic():
                act(key)
        except stops:
            raise
        except refusals as refusal:
            refused[key] = str(refusal)
        except Exception as error:
            if isinstance(error, DATABASE_ERRORS) and not connection_lives():
                raise
            logger.exception("%s failed for %s", act.__qualname__, key)
            refused[key] = UNFORESEEN
        else:
            succeeded += 1
    return Outcome(succeeded, refused)


def count_failed_rows() -> dict[str, int]:
    """Return how many rows each job has failed on lately."""
    lately = FailedRow.objects.filter(last_at__gte=timezone.now() - REMEMBERED).order_by()
    return dict(lately.values_list("job").annotate(number=Count("*")))


def note_failed_row(job: str, kind: str, key: str, error: str) -> bool:
    """Record that a job failed on a row; return True if that is new."""
    row, is_new = FailedRow.objects.get_or_create(
        job=job,
        kind=kind,
        key=key[:LONGEST_KEY],
        defaults={"error": error[:LONGEST_ERROR]},
    )
    if not is_new:
        again = {"last_at": timezone.now(), "times": F("times") + 1}
        FailedRow.objects.filter(pk=row.pk).update(error=error[:LONGEST_ERROR], **again)
    return is_new


def lately_failed_keys(job: str, kind: str) -> list[str]:
    rows = FailedRow.objects.filter(job=job, kind=kind)
    return list(rows.filter(last_at__gte=timezone.now() - REMEMBERED).values_list("key", flat=True))


def forget_failed_rows(job: str, kind: str, keys: Iterable[object]) -> None:
    FailedRow.objects.filter(job=job, kind=kind, key__in=list(map(str, keys))).delete()


def forget_old_rows() -> None:
    """Delete the rows of all jobs whose last failure is longer ago than REMEMBERED."""
    FailedRow.objects.filter(last_at__lt=timezone.now() - REMEMBERED).delete()


def connection_lives() -> bool:
    return connection.connection is not None and connection.is_usable()


class FailingRows:
    """Failures of one run of a job, which has the name of its pulse."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.failed: dict[tuple[str, str], str] = {}
        # Kinds and keys of the rows that failed in earlier runs.
        self.earlier_failures: set[tuple[str, str]] = set()
        for row in FailedRow.objects.filter(job=job):
            if row.last_at < timezone.now() - REMEMBERED:
                row.delete()
            else:
                self.earlier_failures.add((row.kind, row.key))

    def first(self, candidates: QuerySet[M], most: int, key: str = "pk") -> list[M]:
        """Return up to `most` rows; rows that failed in earlier runs come last."""
        failed = {f"{key}__in": [failed_key for _, failed_key in self.earlier_failures]}
        rows = list(candidates.exclude(**failed)[:most])
        return rows + list(candidates.filter(**failed)[: most - len(rows)])

    def do(
        self,
        kind: str,
        keys: Sequence[K],
        work: Callable[[Sequence[K]], object],
        *,
        not_theirs: tuple[type[Exception], ...] = (),
    ) -> int:
        """Do `work` for all keys in a transaction; if it fails, for each half of them.

        Only keys that fail by themselves are left out and noted. Returns how many succeeded.
        Raises TooManyFailures, DATABASE_ERRORS, and exceptions of `not_theirs`.
        """
        blameless: tuple[type[Exception], ...] = (*DATABASE_ERRORS, *not_theirs)
        try:
            with transaction.atomic():
                work(keys)
        except blameless:
            raise
        except Exception as error:
            if len(keys) > 1:
                middle = len(keys) // 2
                halves = keys[:middle], keys[middle:]
                return sum(self.do(kind, half, work, not_theirs=not_theirs) for half in halves)
            self.note(kind, keys[0], error)
            return 0
        self.forget(kind, keys)
        return len(keys)

    def note(self, kind: str, key: object, error: Exception) -> None:
        """Record that a row failed; log it the first time. Raises TooManyFailures."""
        text = f"{type(error).__name__}: {error}".replace("\x00", "").partition("\n")[0]
        row = kind, str(key)[:LONGEST_KEY]
        self.failed[row] = text
        if note_failed_row(self.job, *row, text):
            about = {"job": self.job}
            without = "%s goes on without %s %s"
            logger.error(without, self.job, *row, exc_info=error, extra=about)
        if len(self.failed) >= MOST_FAILURES:
            raise TooManyFailures(f"{len(self.failed)} rows failed, the last with {text}")

    def forget(self, kind: str, keys: Sequence[Any]) -> None:
        """Remove rows that have succeeded after all from the failed rows."""
        if not self.earlier_failures:
            return
        cured = self.earlier_failures & {(kind, str(key)[:LONGEST_KEY]) for key in keys}
        for _, key in cured:
            FailedRow.objects.filter(job=self.job, kind=kind, key=key).delete()
        self.earlier_failures.difference_update(cured)
