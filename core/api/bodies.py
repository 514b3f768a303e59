"""Fields and serializers that read a request's body strictly.

Values are not converted: `"5"`, `true` and `5.0` are not integers, and numbers are not strings
(decision E5). An unknown field is an error, so that a misspelt name is not ignored (decision E4).
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request

from core.values.ids import LARGEST_ID
from core.values.texts import is_blank

LONGEST_TEXT_BYTES = 64 * 1024
LONGEST_CURSOR = 50
# Unknown fields that an error names: a body of them alone would make an answer four times its size.
MOST_UNKNOWN = 100


UNKNOWN_FIELD = ErrorDetail("Unknown field.", code="unknown_field")


class WrongField(serializers.ValidationError):
    """A 400 about one field; about the whole body where `field` is empty.

    Programs rely on `code` (decision N11): a new one needs its row in docs/errors.md.
    """

    def __init__(self, field: str, message: str, *, code: str) -> None:
        super().__init__({field or "non_field_errors": [message]}, code=code)


class Body(serializers.Serializer[Any]):
    """A serializer that rejects unknown fields and reports all wrong fields at once.

    It names the first MOST_UNKNOWN of the unknown ones.
    """

    # Minimum number of fields in a body, for the schema.
    least_fields = 0

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """Validate the request's body and return its values. Raises ValidationError (400)."""
        body = cls(data=request.data)
        body.is_valid(raise_exception=True)
        values: dict[str, Any] = body.validated_data
        return values

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            raise WrongField("", "Send a JSON object.", code="wrong_type")
        names = (name for name in data if name not in self.fields)
        unknown = {name: [UNKNOWN_FIELD] for name in islice(names, MOST_UNKNOWN)}
        try:
            values: dict[str, Any] = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**unknown, **errors_of(error)}) from error
        if unknown:
            raise serializers.ValidationError(unknown)
        return values


def errors_of(error: serializers.ValidationError) -> dict[str, Any]:
    """Return the error messages by field."""
    assert isinstance(error.detail, dict)  # noqa: S101 - a serializer's detail is a dict
    return error.detail


class Integer(serializers.IntegerField):
    """A JSON integer; by default an id: 1 to 2^63-1."""

    default_error_messages = {"invalid": "Send an integer."}

    def __init__(self, *, min_value: int = 1, max_value: int = LARGEST_ID, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid")
        return data


@extend_schema_field({"type": "integer", "enum": [0, 1]})
class Flag(serializers.IntegerField):
    """1 or 0, as integers; true and false are rejected (decision E5)."""

    default_error_messages = {"invalid_choice": "Send 1 or 0."}

    def to_internal_value(self, data: Any) -> bool:
        if type(data) is not int or data not in (0, 1):
            self.fail("invalid_choice")
        return data == 1

    def to_representation(self, value: Any) -> int:
        return int(value)


class Text(serializers.CharField):
    """A JSON string of at most 64 KiB in UTF-8, not trimmed (decision T15)."""

    default_error_messages = {
        "invalid": "Send a string.",
        "max_bytes": f"Send at most {LONGEST_TEXT_BYTES // 1024} KiB.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    # Returns a string. Subclasses may return something else.
    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid")
        text = super().to_internal_value(data)
        if not self.allow_blank and is_blank(text):
            self.fail("blank")
        if len(text.encode()) > LONGEST_TEXT_BYTES:
            self.fail("max_bytes")
        return text


# Pattern of a cursor that is a row's place in an order; others are a row's id, or sealed.
PLACE_CURSOR = "[0-9]{1,17}-[0-9]{1,17}"


class Cursor(Text):
    """The `next_cursor` of an earlier response; the list that issued it parses it."""

    def __init__(self, *forms: str, **options: Any) -> None:
        super().__init__(required=False, max_length=LONGEST_CURSOR, **options)
        pattern = f"^({'|'.join(forms)})$"
        set_override(self, "field", {"type": "string", "pattern": pattern})


class Word(serializers.ChoiceField):
    """One of a few strings. A number or boolean that looks like one is rejected."""

    default_error_messages = {"invalid_choice": "Send one of {choices}."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(self.choices))
        return data
