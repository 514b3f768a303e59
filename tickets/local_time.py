"""The clock on the wall where somebody works: PostgreSQL converts, summer time and all."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import DateTimeField, F, Func, IntegerField, OuterRef, TimeField, Value
from django.db.models.functions import Now
from django.utils.translation import gettext


class LocalWeekday(Func):
    """0 for Monday, of an instant in a time zone."""

    template = "(EXTRACT(ISODOW FROM timezone(%(expressions)s))::int - 1)"
    output_field = IntegerField()


class LocalTime(Func):
    """The time of day, of an instant in a time zone."""

    template = "timezone(%(expressions)s)::time"
    output_field = TimeField()


def instant(at: datetime | None) -> Any:
    """In SQL; None is the moment at which the statement runs."""
    return Now() if at is None else Value(at, output_field=DateTimeField())


def weekday_there(zone: F | OuterRef, at: datetime | None) -> LocalWeekday:
    return LocalWeekday(zone, instant(at))


def time_there(zone: F | OuterRef, at: datetime | None) -> LocalTime:
    return LocalTime(zone, instant(at))


def check_zone(name: str) -> None:
    """Raises ValidationError: one zone unknown to PostgreSQL would stop all of assignment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_timezone_names WHERE name = %s", [name])
        if cursor.fetchone() is None:
            text = gettext("There is no time zone %(name)s. Write it like Europe/Madrid.")
            raise ValidationError(text % {"name": name})
