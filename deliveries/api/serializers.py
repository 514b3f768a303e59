from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.api.bodies import Body, Cursor, Text, Word
from core.api.sealed_cursors import SEALED_PATTERN
from core.values.times import read_time
from deliveries.models import STATES, State

# An offset of 16 hours or more is refused: no place on Earth has one.
OFFSET = "([Zz]|[+-](0[0-9]|1[0-5]):[0-5][0-9])$"


@extend_schema_field({"type": "string", "format": "date-time", "pattern": OFFSET})
class Moment(Text):
    """A time in ISO 8601, given in UTC; one without an offset is taken to be in UTC."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return read_time(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid_time") from error


class Window(Body):
    """The deliveries created at `since` or later and before `until`."""

    since = Moment()
    until = Moment(required=False)


class LogQuery(Body):
    """The query of a webhook's delivery log. Every value comes as text."""

    state = Word(choices=list(STATES), required=False)
    since = Moment(required=False)
    until = Moment(required=False)
    tracking_number = Text(required=False, max_length=100)
    cursor = Cursor(SEALED_PATTERN)
    limit = serializers.IntegerField(required=False, default=20, min_value=1, max_value=100)

    def validate_state(self, state: str) -> State:
        return STATES[state]


class StreamQuery(Body):
    """The query of a webhook's events. Every value comes as text."""

    after = Cursor(SEALED_PATTERN, help_text="The last answer's next_cursor.")
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=100)
