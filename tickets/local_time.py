"""Local time of agents, converted by PostgreSQL with daylight saving time."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import DateTimeField, F, Func, IntegerField, OuterRef, TimeField, Value
from django.db.models.functions import Now
from django.utils.translation import gettext


class LocalWeekday(Func):
    """Weekday of an instant in a time zone; Monday is 0."""

    template = "(EXTRACT(ISODOW FROM timezone(%(expressions)s))::int - 1)"
    output_field = IntegerField()


class LocalTime(Func):
    """Time of day of an instant in a time zone."""

    template = "timezone(%(expressions)s)::time"
    output_field = TimeField()


def instant(at: datetime | None) -> Any:
    """Return an instant as an SQL expression; None is the statement's start."""
    return Now() if at is None else Value(at, output_field=DateTimeField())


def weekday_there(zone: F | OuterRef, at: datetime | None) -> LocalWeekday:
    return LocalWeekday(zone, instant(at))


def time_there(zone: F | OuterRef, at: datetime | None) -> LocalTime:
    return LocalTime(zone, instant(at))


def check_zone(name: str) -> None:
    """Raise ValidationError for a zone unknown to PostgreSQL, as it would break all assignment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_timezone_names WHERE name = %s", [name])
        if cursor.fetchone() is None:
            text = gettext("There is no time zone %(name)s. Write it like Europe/Madrid.")
            raise ValidationError(text % {"name": name})
