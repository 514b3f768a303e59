"""Rows of every kind, dumped by table."""

import gzip
import json
from itertools import count
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from tests import builders as build
from tests.erasing import world
from tests.upgrades.life import ALIVE, SEQUENCES, TABLES

numbers = count(1)


def write(file: Path) -> dict[str, Any]:
    """Migrate, fill and dump; raises AssertionError if a table has no row."""
    call_command("migrate", verbosity=0)
    agent = build.agent("ada")
    for number, word in enumerate(("alpha", "beta"), start=501):
        world.everything(word, agent, number)
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._base_manager.exists():
            make_one(model)
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        tables = {table: rows_of(cursor, table) for (table,) in cursor.fetchall()}
        cursor.execute(SEQUENCES)
        sequences = dict(cursor.fetchall())
    empty = {table for table, (_, rows) in tables.items() if not rows} - ALIVE
    assert empty == set(), f"no row in {', '.join(sorted(empty))}: make one in {__name__}"
    applied = sorted(MigrationRecorder(connection).applied_migrations())
    dump = {"migrations": applied, "tables": tables, "sequences": sequences}
    # The same rows must give the same bytes.
    file.write_bytes(gzip.compress(json.dumps(dump).encode(), mtime=0))
    return {table: len(rows.splitlines()) for table, (_, rows) in tables.items()}


def rows_of(cursor: Any, table: str) -> tuple[list[str], str]:
    """Return the columns of a table, and its rows as COPY writes them."""
    cursor.execute(f'SELECT * FROM "{table}" LIMIT 0')  # noqa: S608 - our own
    columns = [column.name for column in cursor.description]
    with cursor.copy(f'COPY (SELECT * FROM "{table}") TO STDOUT') as lines:  # noqa: S608 - our own
        text = b"".join(bytes(each) for each in lines).decode()
    return columns, text


def make_one(model: type[models.Model]) -> models.Model:
    """Create a row with a value in each column without a default, and its related rows."""
    values = {
        field.name: something(field)
        for field in model._meta.concrete_fields
        if not (field.has_default() or field.has_db_default())
        if not isinstance(field, models.AutoField)
    }
    return model._base_manager.create(**values)


def something(field: Any) -> Any:
    if field.is_relation:
        other = field.related_model
        unused = other._base_manager.exclude(
            pk__in=field.model._base_manager.values(field.attname) if field.unique else ()
        )
        return (unused.last() if field.name == "second" else unused.first()) or make_one(other)
    if field.name == "ends":
        return "17:00"
    if field.choices:
        return field.flatchoices[0][0]
    values = {
        "BooleanField": True,
        "DateField": timezone.now().date(),
        "DateTimeField": timezone.now(),
        "DecimalField": 1,
        "FloatField": 1.5,
        "DurationField": None,
        "EmailField": "someone@example.com",
        "GenericIPAddressField": "192.0.2.1",
        "JSONField": {},
        "TimeField": "09:00",
        "UUIDField": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "BinaryField": b"x",
        "ArrayField": [],
    }
    kind = field.get_internal_type()
    if kind in values:
        return values[kind]
    if "Integer" in kind:
        return next(numbers)
    return f"x{next(numbers)}"[: field.max_length]
