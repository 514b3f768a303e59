"""Repairs after a restore of the database from a backup, and detection of a restore.

A restored database does not know which ids the lost one issued: its sequences would give the ids of
lost tickets to other companies, and receivers would drop events with numbers that they have passed.
Why: decision page deploy-a-restore-is-finished-by-a-command.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.apps import apps
from django.db import ProgrammingError, connection, models, transaction
from django.utils import timezone

from companies.models import AuditEntry
from core.models import Deployment

# Server, history and database. It differs after a restored dump (the database), on another server
# (the identifier), and after a recovery or the promotion of a standby (the timeline).
ORIGIN = """
SELECT system_identifier || '/' || CASE WHEN pg_is_in_recovery() THEN ''
    ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END
  || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
FROM pg_control_system()
"""
# Each sequence, with the table and column whose numbers it gives.
SEQUENCES = """
SELECT s.schemaname, s.sequencename, coalesce(s.last_value, 0), s.max_value, t.relname, a.attname
FROM pg_sequences AS s
JOIN pg_class AS c ON c.relname = s.sequencename AND c.relnamespace = s.schemaname::regnamespace
LEFT JOIN pg_depend AS d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass
  AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
LEFT JOIN pg_class AS t ON t.oid = d.refobjid
LEFT JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE s.schemaname = ANY(current_schemas(false)) ORDER BY s.sequencename
"""
# Minimum stretch for measuring how fast ids are issued, and minimum time that counts as lost.
SHORTEST = timedelta(hours=1)
STRETCHES = (1_000, 10_000, 100_000)
# Factor on the fastest of the stretches.
SAFETY = 10
LEAST = 10_000
# Ids that programs use up by the thousand, and that nobody reads out over the telephone.
LEAST_OF_PROGRAMS = 10_000_000
BY_PROGRAMS = {"deliveries_event", "deliveries_attempt", "shipments_trackingupdate"}
# Rows that a restore or its operator writes: they say nothing about the time of the backup.
WRITTEN_AFTERWARDS: tuple[type[models.Model], ...] = (AuditEntry,)


class SequenceMove(NamedTuple):
    """A move of a sequence: `last` is the backup's last id, `target` is past every issued id."""

    sequence: str
    table: str
    last: int
    target: int


def origin() -> str:
    """Identify the server, timeline and database that we are connected to."""
    with connection.cursor() as cursor:
        cursor.execute(ORIGIN)
        return str(cursor.fetchone()[0])


def note_origin(*, again: bool = False) -> None:
    """Record the database as the one in use: the first time, or `again` after a restore."""
    deployment, _ = Deployment.objects.get_or_create(pk=1)
    if again or deployment.origin is None:
        Deployment.objects.filter(pk=1).update(origin=origin(), restore=None)


def note_first_origin(**_: object) -> None:
    """Record the database, unless one is recorded, after `migrate`."""
    # An older schema, as after `migrate core zero`, has no place for it.
    with suppress(ProgrammingError):
        note_origin()


def is_restored() -> bool:
    """Return whether the database is not the recorded one, or a repair is unfinished."""
    recorded = Deployment.objects.filter(pk=1).values_list("origin", "restore").first()
    if recorded is None or recorded[0] is None:
        return False
    return recorded[0] != origin() or recorded[1] is not None


def clock_fields() -> dict[str, str]:
    """Return our tables with an `id`, and the column with the time at which rows were written."""
    columns = {}
    for model in apps.get_models():
        if model in WRITTEN_AFTERWARDS or model._meta.pk.name != "id":
            continue
        names = [
            str(field.column)
            for field in model._meta.local_fields
            if isinstance(field, models.DateTimeField)
            and (getattr(field, "auto_now_add", False) or field.name in ("created_at", "at"))
        ]
        if names:
            columns[model._meta.db_table] = names[0]
    return columns


def newest_row() -> datetime | None:
    """Find when the newest row was written: the time of the backup, as far as rows tell."""
    now = timezone.now()
    times = []
    for table, column in clock_fields().items():
        quoted, time = connection.ops.quote_name(table), connection.ops.quote_name(column)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {time} FROM {quoted} ORDER BY id DESC LIMIT 1")  # noqa: S608
            times += [at for (at,) in cursor.fetchall() if at is not None and at <= now]
    return max(times, default=None)


def fastest(table: str, column: str, until: datetime) -> float:
    """Measure the ids per second in the busiest of the last stretches of a table."""
    quoted, time = connection.ops.quote_name(table), connection.ops.quote_name(column)
    rates = [0.0]
    for rows in STRETCHES:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*), max(id) - min(id), min({time}) FROM"  # noqa: S608
                f" (SELECT id, {time} FROM {quoted} ORDER BY id DESC LIMIT %s) AS newest",
                [rows],
            )
            count, ids, since = cursor.fetchone()
        if count and isinstance(ids, int):
            span = max(until - since, SHORTEST)
            rates.append((ids + 1) / span.total_seconds())
    return max(rates)


def plan(
    lost_since: datetime, *, margin: int = LEAST, used_ids: Mapping[str, int] | None = None
) -> list[SequenceMove]:
    """Plan how far each sequence moves: by `margin` at least, and past every id of `used_ids`.

    The margin is ten times what the busiest stretch before the backup would have issued since then.
    A table without times moves by as many ids as it ever gave.
    """
    clocks = clock_fields()
    used_ids = used_ids or {}
    lost = max(timezone.now() - lost_since, SHORTEST).total_seconds()
    with connection.cursor() as cursor:
        cursor.execute(SEQUENCES)
        sequences = cursor.fetchall()
    steps = []
    for schema, name, last, largest, table, column in sequences:
        step = max(margin, LEAST_OF_PROGRAMS if table in BY_PROGRAMS else 0)
        if table in clocks and column == "id":
            step = max(step, math.ceil(SAFETY * lost * fastest(table, clocks[table], lost_since)))
        else:
            step = max(step, last)
        target = max(last + step, used_ids.get(table or name, 0) + margin)
        full = f"{connection.ops.quote_name(schema)}.{connection.ops.quote_name(name)}"
        steps.append(SequenceMove(full, table or name, last, min(target, largest - 1)))
    return steps


def begin_repair(steps: list[SequenceMove], lost_since: datetime) -> list[SequenceMove]:
    """Keep the plan, or return the one of a run that was interrupted."""
    with transaction.atomic():
        Deployment.objects.get_or_create(pk=1)
        row = Deployment.objects.select_for_update(no_key=True).get(pk=1)
        if row.restore is None:
            row.restore = {"lost_since": lost_since.isoformat(), "steps": [*map(list, steps)]}
            row.save(update_fields=["restore"])
        return [SequenceMove(*step) for step in row.restore["steps"]]


def interrupted_repair() -> dict[str, Any] | None:
    """Return the plan of a run that was interrupted."""
    repair: dict[str, Any] | None = (
        Deployment.objects.filter(pk=1).values_list("restore", flat=True).first()
    )
    return repair


def move_sequences(steps: list[SequenceMove], show: Callable[[str], None]) -> None:
    """Move each sequence to its target, unless it is there already: a repeat changes nothing."""
    for number, step in enumerate(steps, start=1):
        show(f"sequences: {number} of {len(steps)}")
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT last_value FROM {step.sequence}")  # noqa: S608
            if cursor.fetchone()[0] < step.target:
                cursor.execute("SELECT setval(%s::regclass, %s)", [step.sequence, step.target])
