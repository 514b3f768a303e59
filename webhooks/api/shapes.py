"""Response shapes of the webhook endpoints, for GET /schema."""

from typing import Any

from rest_framework import serializers

from core.api.shapes import Error, FlagValue, NextCursor, Time, shape
from webhooks.event_types import registry


class Secret(serializers.RegexField):
    def __init__(self, **options: Any) -> None:
        super().__init__("^[0-9a-f]{64}$", **options)


class StandardSecret(serializers.RegexField):
    def __init__(self, **options: Any) -> None:
        about = "The same secret as libraries for Standard Webhooks take it."
        super().__init__("^whsec_[A-Za-z0-9+/]+=*$", help_text=about, **options)


class TypeName(serializers.ChoiceField):
    """Name of a registered event type.

    REST framework creates the field for each serializer, so types registered later are included.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[each.name for each in registry], **options)


class WebhookTypeRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField()


class NewWebhook(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = TypeName()
    url = serializers.URLField(allow_null=True)
    active = FlagValue()
    secret = Secret(
        required=False,
        help_text="Only for signed types. Shown only here and on rotation, so store it.",
    )
    standard_secret = StandardSecret(required=False)


WebhookCreated = shape(
    "WebhookCreated",
    meta=serializers.ChoiceField(choices=["webhook_created"]),
    data=NewWebhook(),
)


class WebhookRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = TypeName()
    type_id = serializers.IntegerField()
    url = serializers.URLField(allow_null=True, help_text="null: nothing is sent.")
    auth_token = serializers.CharField(
        allow_null=True,
        help_text="The last four characters after …, or null. … alone: we can no longer read it, so"
        " set it again.",
    )
    active = FlagValue()
    max_in_flight = serializers.IntegerField(
        allow_null=True,
        min_value=1,
        max_value=1000,
        help_text="Never more requests to it at once, or null.",
    )
    standard_headers = FlagValue(
        help_text="1: deliveries also carry webhook-id, webhook-timestamp and webhook-signature."
    )
    paused_reason = serializers.CharField(
        allow_null=True, help_text="Why the service paused the webhook, if it did."
    )
    secret_activates_at = Time(allow_null=True, help_text="When the new secret starts to sign.")
    created_at = Time()
    updated_at = Time()


WebhookList = shape(
    "WebhookList",
    data=WebhookRow(many=True),
    next_cursor=NextCursor(
        allow_null=True, help_text="Send it as `cursor` to get the rest; null on the last page."
    ),
)


WebhookAnswer = shape(
    "WebhookAnswer",
    data=WebhookRow(),
)


class RotatedSecret(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    secret = Secret()
    standard_secret = StandardSecret()
    activates_at = Time()


SecretRotated = shape(
    "SecretRotated",
    meta=serializers.ChoiceField(choices=["secret_rotated"]),
    data=RotatedSecret(),
)


InUse = shape(
    "URLInUse",
    Error,
    webhook_id=serializers.IntegerField(required=False, help_text="The webhook that has the URL."),
)
