"""How the endpoints of webhooks are described (GET /schema)."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from companies.api.refusals import OwnRefusals
from companies.api.schema import operation
from companies.api.shapes import Done, Error, FlagValue, Time, shape
from webhooks.api.serializers import (
    ChangeWebhook,
    ListWebhooks,
    RegisterWebhook,
    RotateSecret,
)
from webhooks.event_types import registry

TAG = "Webhooks"
SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2
URL = "https://hooks.example.com/parcels"


class Secret(serializers.RegexField):
    def __init__(self, **options: Any) -> None:
        super().__init__("^[0-9a-f]{64}$", **options)


class TypeName(serializers.ChoiceField):
    """The name of a registered event type.

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
    url = serializers.CharField()
    active = FlagValue()
    secret = Secret(
        required=False,
        help_text="Only for signed types. Shown only here and on rotation, so store it.",
    )


WebhookCreated = shape(
    "WebhookCreated",
    meta=serializers.ChoiceField(choices=["webhook_created"]),
    data=NewWebhook(),
)


class WebhookRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = TypeName()
    type_id = serializers.IntegerField()
    url = serializers.CharField()
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
    paused_reason = serializers.CharField(
        allow_null=True, help_text="Why the service paused the webhook, if it did."
    )
    secret_activates_at = Time(allow_null=True, help_text="When the new secret starts to sign.")
    created_at = Time()
    updated_at = Time()


WebhookList = shape(
    "WebhookList",
    data=WebhookRow(many=True),
    next_cursor=serializers.IntegerField(
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
    activates_at = Time()


SecretRotated = shape(
    "SecretRotated",
    meta=serializers.ChoiceField(choices=["secret_rotated"]),
    data=RotatedSecret(),
)


ROW = {
    "id": 7,
    "type": "tracking.simple",
    "type_id": 3,
    "url": URL,
    "auth_token": "…9f3a",
    "active": 1,
    "max_in_flight": None,
    "paused_reason": None,
    "secret_activates_at": None,
    "created_at": "2026-01-02 00:00:00",
    "updated_at": "2026-01-02 00:00:00",
}

InUse = shape(
    "URLInUse",
    Error,
    webhook_id=serializers.IntegerField(required=False, help_text="The webhook that has the URL."),
)


IN_USE = OwnRefusals(
    {"webhook_exists": "This URL already receives events of this type."}, InUse, {"webhook_id": 7}
)


webhook_types = extend_schema_view(
    get=operation(
        "listWebhookTypes",
        "List the webhook types.",
        tag=TAG,
        answer=WebhookTypeRow(many=True),
        shows={"id": 3, "name": "tracking.simple", "description": "A shipment's status changed."},
    )
)

webhooks = extend_schema_view(
    get=operation(
        "listWebhooks",
        "List your webhooks, oldest first.",
        tag=TAG,
        about="All that you can register fit one page.",
        query=ListWebhooks,
        answer=WebhookList,
        shows={"data": [ROW], "next_cursor": None},
    ),
    post=operation(
        "registerWebhook",
        "Register a URL for events of one type.",
        tag=TAG,
        body=RegisterWebhook,
        sends={"a signed type": {"type_id": 3, "url": URL, "active": 1}},
        answer=WebhookCreated,
        shows={
            "meta": "webhook_created",
            "data": {
                "id": 7,
                "type": "tracking.simple",
                "url": URL,
                "active": 1,
                "secret": SECRET,
            },
        },
        errors={
            409: IN_USE,
            422: {
                "webhook_limit": "A company can have 100 webhooks. Delete one to register another."
            },
        },
        idempotent=True,
    ),
)

one_webhook = extend_schema_view(
    get=operation(
        "readWebhook",
        "Read one webhook.",
        tag=TAG,
        answer=WebhookAnswer,
        shows={"data": ROW},
        errors={404: None},
    ),
    put=operation(
        "changeWebhook",
        "Change a webhook's URL, delivery token or limit, pause or resume it.",
        tag=TAG,
        about="Send at least one field. A rejected request changes nothing.",
        body=ChangeWebhook,
        sends={
            "pause": {"active": 0},
            "another URL": {"url": URL},
            "ten at once": {"max_in_flight": 10},
        },
        answer=Done,
        shows={"data": True},
        errors={404: None, 409: IN_USE},
    ),
    delete=operation(
        "deleteWebhook",
        "Delete a webhook. Waiting deliveries are cancelled.",
        tag=TAG,
        answer=Done,
        shows={"data": True},
        errors={404: None},
    ),
)

webhook_secret = extend_schema_view(
    post=operation(
        "rotateSecret",
        "Make a new signing secret.",
        tag=TAG,
        about="The old secret signs until `activates_at`. Every request carries one signature.",
        body=RotateSecret,
        sends={"in an hour": {"activates_in": 3600}},
        answer=SecretRotated,
        shows={
            "meta": "secret_rotated",
            "data": {"id": 7, "secret": SECRET, "activates_at": "2026-01-03 00:00:00"},
        },
        errors={404: None, 422: {"webhook_not_signed": "Webhooks of this type are not signed."}},
        idempotent=True,
    )
)
