"""Serializers that describe bodies of several endpoints."""

from typing import Any

from rest_framework import serializers

Shape = type[serializers.Serializer[Any]]
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$"


class Time(serializers.RegexField):
    """A time in a response: UTC, to the second."""

    def __init__(self, **options: Any) -> None:
        super().__init__(TIME, **options)


class NextCursor(serializers.CharField):
    """The place from which a list continues: a string in every list, or null."""


class FlagValue(serializers.ChoiceField):
    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[0, 1], **options)


class Code(serializers.RegexField):
    """Error code for programs (decision N11). No enum: a new code must break no client."""

    def __init__(self, **options: Any) -> None:
        about = "Stable, for programs; the messages are for people and may change."
        super().__init__("^[a-z][a-z0-9_]*$", help_text=about, **options)


def shape(
    name: str,
    base: Shape = serializers.Serializer,
    /,
    **fields: serializers.Field[Any, Any, Any, Any],
) -> Shape:
    """Make a serializer class of these fields, which may be named `data` or `errors`.

    A class statement cannot define such fields: they would hide attributes of the serializer.
    """
    return type(name, (base,), fields)


Acknowledgement = shape(
    "Done",
    data=serializers.BooleanField(help_text="Always true."),
)


class FieldError(serializers.Serializer[Any]):
    field = serializers.CharField(
        help_text="For example documents[0].field_id; empty when the error concerns the whole body."
    )
    message = serializers.CharField()
    code = Code()


class Error(serializers.Serializer[Any]):
    """Error of the management endpoints (decision E1)."""

    statusCode = serializers.IntegerField()
    error = serializers.CharField()
    message = serializers.CharField()
    code = Code()


InvalidRequest = shape(
    "InvalidRequest",
    Error,
    errors=FieldError(
        many=True, required=False, help_text="Every invalid field; of unknown ones the first 100."
    ),
)


ShippingErrorBody = shape(
    "ShippingErrorBody",
    code=serializers.IntegerField(),
    description=serializers.CharField(),
    message=serializers.CharField(),
    reason=Code(),
    errors=FieldError(
        many=True, required=False, help_text="Every invalid field; of unknown ones the first 100."
    ),
)


class ShippingError(serializers.Serializer[Any]):
    """Error of the shipping endpoints (decision E2)."""

    meta = serializers.ChoiceField(choices=["error"])
    error = ShippingErrorBody()
