"""Serializer fields for query parameters."""

import re
from datetime import date
from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.api.bodies import Integer, Text, Word
from tickets import rules
from tickets.statuses import Status, joined

MOST_IDS = 50
# Pattern of a status number.
A_STATUS = f"({'|'.join(str(status.value) for status in Status)})"


class QueryInteger(Integer):
    """Integer in a query parameter: ASCII digits only."""

    def to_internal_value(self, data: Any) -> int:
        if not re.fullmatch("[0-9]{1,19}", data):
            self.fail("invalid")
        return super().to_internal_value(int(data))


@extend_schema_field({"type": "boolean"})
class Switch(Word):
    """Boolean in a query parameter: true, false, 1 or 0."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=["true", "false", "1", "0"], **options)

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(data) in ("true", "1")


@extend_schema_field({"type": "string", "format": "date"})
class Day(Text):
    def to_internal_value(self, data: Any) -> Any:
        if not rules.is_date(data):
            raise serializers.ValidationError("Send a date as YYYY-MM-DD.", code="invalid_date")
        return date.fromisoformat(data)


@extend_schema_field({"type": "integer", "enum": list(Status)})
class StatusNumber(QueryInteger):
    def to_internal_value(self, data: Any) -> Status:
        number = super().to_internal_value(data)
        if number not in set(Status):
            raise serializers.ValidationError(
                f"Send {joined(sorted(Status), 'or')}.", code="invalid_choice"
            )
        return Status(number)


class Several(Text):
    """Comma-separated ids; `one` parses an id, and `pattern` describes it in the schema."""

    def __init__(self, one: QueryInteger, pattern: str, **options: Any) -> None:
        super().__init__(required=False, **options)
        self.one = one
        several = f"^{pattern}(,{pattern}){{0,{MOST_IDS - 1}}}$"
        set_override(self, "field", {"type": "string", "pattern": several})

    def to_internal_value(self, data: Any) -> Any:
        parts = super().to_internal_value(data).split(",")
        if len(parts) > MOST_IDS:
            raise serializers.ValidationError(f"Send at most {MOST_IDS} ids.", code="too_long")
        return [self.one.run_validation(part) for part in parts]
