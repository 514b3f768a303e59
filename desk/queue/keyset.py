"""Keyset pagination: the neighbours of a ticket in an ordered list, without an offset.

A key is made of the values that the list is ordered by, so it remains a valid place after the
ticket itself has left the list.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import OrderBy

from core.values.ids import LARGEST_ID
from tickets.models import Ticket

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# Always ascending, with nulls last.
NULLABLE = ("due_at", "filing_due_at")

Key = tuple[int | None, ...]


class Column(NamedTuple):
    name: str
    descends: bool = False

    def ordering(self, *, back: bool) -> OrderBy:
        if self.name in NULLABLE:
            return (
                F(self.name).desc(nulls_first=True) if back else F(self.name).asc(nulls_last=True)
            )
        return F(self.name).desc() if self.descends != back else F(self.name).asc()

    def as_value(self, number: int | None) -> Any:
        if number is None or not self.name.endswith("_at"):
            return number
        return EPOCH + number * MICROSECOND


def order_columns(order: Sequence[Any]) -> list[Column]:
    """Return the columns of an order: names, or F(deadline).asc(nulls_last=True)."""
    return [
        Column(str(cast(Any, item.expression).name))
        if isinstance(item, OrderBy)
        else Column(item.removeprefix("-"), item.startswith("-"))
        for item in order
    ]


def as_number(value: Any) -> int | None:
    if isinstance(value, datetime):
        return (value - EPOCH) // MICROSECOND
    return None if value is None else int(value)


def ticket_key(ticket: Ticket, order: Sequence[Column]) -> Key:
    return tuple(as_number(getattr(ticket, column.name)) for column in order)


def write_key(key: Key) -> str:
    return ".".join("" if number is None else str(number) for number in key)


def read_key(text: str, order: Sequence[Column]) -> Key | None:
    """Parse a key; None if it is not valid for this order."""
    parts = text.split(".")
    if len(parts) != len(order):
        return None
    key: list[int | None] = []
    for part, column in zip(parts, order, strict=True):
        if not part and column.name in NULLABLE:
            key.append(None)
            continue
        if not (part.isascii() and part.isdecimal() and len(part) < 19 and int(part) <= LARGEST_ID):
            return None
        try:
            column.as_value(int(part))
        except OverflowError:
            return None
        key.append(int(part))
    return tuple(key)


def beyond(
    tickets: QuerySet[Ticket], order: Sequence[Column], key: Key, most: int, *, back: bool
) -> Iterator[QuerySet[Ticket]]:
    """Yield queries for up to `most` tickets after the key each, or before it if `back`.

    An index serves each. The rows of one query are nearer to the key than those of the next.
    """
    ordering = [column.ordering(back=back) for column in order]
    for depth in reversed(range(len(order))):
        same = Q()
        for column, number in zip(order[:depth], key[:depth], strict=True):
            same &= equal(column, number)
        for further in further_than(order[depth], key[depth], back=back):
            yield tickets.filter(same & further).order_by(*ordering)[:most]


def equal(column: Column, number: int | None) -> Q:
    if number is None:
        return Q(**{f"{column.name}__isnull": True})
    return Q(**{column.name: column.as_value(number)})


def further_than(column: Column, number: int | None, *, back: bool) -> Iterator[Q]:
    missing = f"{column.name}__isnull"
    if number is None:
        if back:
            yield Q(**{missing: False})
        return
    towards = "lt" if column.descends != back else "gt"
    yield Q(**{f"{column.name}__{towards}": column.as_value(number)})
    if column.name in NULLABLE and not back:
        yield Q(**{missing: True})


def around(
    tickets: QuerySet[Ticket], order: Sequence[Column], key: Key, before: int, after: int
) -> tuple[list[Key], list[Key]]:
    """Return up to `before` keys before one and `after` keys after it, read in one statement."""
    names = [column.name for column in order]
    parts = [
        part.values_list(*names)
        for back, most in ((True, before), (False, after))
        if most
        for part in beyond(tickets, order, key, most, back=back)
    ]
    rows = parts[0].union(*parts[1:], all=True) if len(parts) > 1 else parts[0]
    keys = sorted({tuple(map(as_number, row)) for row in rows}, key=lambda each: rank(each, order))
    here = rank(key, order)
    earlier = [each for each in keys if rank(each, order) < here]
    later = [each for each in keys if rank(each, order) > here]
    return earlier[-before:] if before else [], later[:after]


def rank(key: Key, order: Sequence[Column]) -> list[tuple[bool, int]]:
    return [
        (number is None, (-1 if column.descends else 1) * (number or 0))
        for number, column in zip(key, order, strict=True)
    ]


def count_before(
    tickets: QuerySet[Ticket], order: Sequence[Column], key: Key, most: int
) -> int | None:
    """Count the tickets before a key; None if there are more than `most`."""
    parts = [part.values("pk") for part in beyond(tickets, order, key, most + 1, back=True)]
    count = (parts[0].union(*parts[1:], all=True) if len(parts) > 1 else parts[0]).count()
    return count if count <= most else None
