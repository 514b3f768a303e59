"""Frequent statements, compiled once: building their SQL takes Django longer than running it."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, Model, QuerySet
from django.db.models.expressions import DatabaseDefault, RawSQL

from core.data import statements

M = TypeVar("M", bound=Model)


class Slot(RawSQL):
    """Placeholder in a queryset for a value that is only known when the query runs."""

    def __init__(self, cast: str) -> None:
        self.mark = object()
        super().__init__(cast.format("%s"), [self.mark])


class CompiledQuery:
    """A queryset that is compiled once per process, with slots for the values that change.

    `make` receives the slots. Everything else that it filters by must stay the same.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, Any]], **slots: str) -> None:
        self.make = make
        self.slots = {name: Slot(cast) for name, cast in slots.items()}
        self.text: tuple[str, tuple[Any, ...]] | None = None

    def fetch(self, **values: Any) -> list[tuple[Any, ...]]:
        if self.text is None:
            self.text = self.make(**self.slots).query.sql_with_params()
        sql, parameters = self.text
        filled = {slot.mark: values[name] for name, slot in self.slots.items()}
        return statements.fetch_rows(sql, [filled.get(one, one) for one in parameters])


def column_names(model: type[Model], prefix: str = "") -> list[str]:
    """Return the names of a model's columns, in the order that `from_row` expects."""
    return [f"{prefix}{field.attname}" for field in model._meta.concrete_fields]


def from_row(model: type[M], values: tuple[Any, ...]) -> M:
    """Build an object from the raw values of all its `column_names`."""
    read = list(values)
    for place, field in enumerate(model._meta.concrete_fields):
        for convert in field.get_db_converters(connection):
            read[place] = convert(read[place], None, connection)
    return model.from_db(DEFAULT_DB_ALIAS, column_names(model), read)


def insert_row(row: Model) -> None:
    """Insert a new object as `save` would, its id and the database's defaults included.

    For models without a parent; no signals are sent.
    """
    names, places, values, returned = [], [], [], [row._meta.pk]
    for field in row._meta.concrete_fields:
        value = field.pre_save(row, add=True)
        if isinstance(value, DatabaseDefault):
            returned.append(field)
        elif value is not None or not field.primary_key:
            names.append(quoted(field))
            places.append("%s")
            values.append(field.get_db_prep_save(value, connection))
    text = (
        f"INSERT INTO {connection.ops.quote_name(row._meta.db_table)} ({', '.join(names)})"  # noqa: S608
        f" VALUES ({', '.join(places)}) RETURNING {', '.join(map(quoted, returned))}"
    )
    (row_values,) = statements.fetch_rows(text, values)
    for field, value in zip(returned, row_values, strict=True):
        setattr(row, field.attname, value)
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def quoted(field: "Field[Any, Any]") -> str:
    return str(connection.ops.quote_name(str(field.column)))
