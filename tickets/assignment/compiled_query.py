"""Questions asked so often that Django would spend longer on their text than on their answer."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL


class Slot(RawSQL):
    """Stands in a queryset for a value that is only known when the question is asked."""

    def __init__(self, cast: str) -> None:
        self.mark = object()
        super().__init__(cast.format("%s"), [self.mark])


class CompiledQuery:
    """A queryset, put together once in this process, with slots for what changes.

    `make` gets the slots. What it filters by besides must not change.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, Any]], **slots: str) -> None:
        self.make = make
        self.slots = {name: Slot(cast) for name, cast in slots.items()}
        self.text: tuple[str, tuple[Any, ...]] | None = None

    def ask(self, **values: Any) -> list[tuple[Any, ...]]:
        if self.text is None:
            self.text = self.make(**self.slots).query.sql_with_params()
        sql, given = self.text
        filled = {slot.mark: values[name] for name, slot in self.slots.items()}
        with connection.cursor() as cursor:
            cursor.execute(sql, [filled.get(one, one) for one in given])
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows
