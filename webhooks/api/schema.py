"""Descriptions of the webhook endpoints for GET /schema."""

from base64 import b64encode

from drf_spectacular.utils import extend_schema_view

from core.api.refusals import OwnRefusals
from core.api.schema import operation
from core.api.shapes import Acknowledgement
from webhooks.api.serializers import (
    ChangeWebhook,
    ListWebhooks,
    RegisterWebhook,
    RotateSecret,
)
from webhooks.api.shapes import (
    InUse,
    SecretRotated,
    WebhookAnswer,
    WebhookCreated,
    WebhookList,
    WebhookTypeRow,
)

TAG = "Webhooks"
SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2
STANDARD_SECRET = f"whsec_{b64encode(SECRET.encode()).decode()}"
URL = "https://hooks.example.com/parcels"


ROW = {
    "id": 7,
    "type": "tracking.simple",
    "type_id": 3,
    "url": URL,
    "auth_token": "…9f3a",
    "active": 1,
    "max_in_flight": None,
    "standard_headers": 0,
    "paused_reason": None,
    "secret_activates_at": None,
    "created_at": "2026-01-02 00:00:00",
    "updated_at": "2026-01-02 00:00:00",
}


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
        about="Those with a URL, and with `without_url=1` all. All that you can register fit one"
        " page.",
        query=ListWebhooks,
        answer=WebhookList,
        shows={"data": [ROW], "next_cursor": None},
    ),
    post=operation(
        "registerWebhook",
        "Register a webhook for events of one type.",
        tag=TAG,
        about="With `url` null nothing is sent: you fetch the events.",
        body=RegisterWebhook,
        sends={
            "a signed type": {"type_id": 3, "url": URL, "active": 1},
            "to be fetched": {"type_id": 3, "url": None},
        },
        answer=WebhookCreated,
        shows={
            "meta": "webhook_created",
            "data": {
                "id": 7,
                "type": "tracking.simple",
                "url": URL,
                "active": 1,
                "secret": SECRET,
                "standard_secret": STANDARD_SECRET,
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
        "Change a webhook's URL, delivery token, limit or headers, pause or resume it.",
        tag=TAG,
        about="Send at least one field. A rejected request changes nothing.",
        body=ChangeWebhook,
        sends={
            "pause": {"active": 0},
            "another URL": {"url": URL},
            "ten at once": {"max_in_flight": 10},
            "Standard Webhooks": {"standard_headers": 1},
        },
        answer=Acknowledgement,
        shows={"data": True},
        errors={404: None, 409: IN_USE},
    ),
    delete=operation(
        "deleteWebhook",
        "Delete a webhook. Waiting deliveries are cancelled.",
        tag=TAG,
        answer=Acknowledgement,
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
            "data": {
                "id": 7,
                "secret": SECRET,
                "standard_secret": STANDARD_SECRET,
                "activates_at": "2026-01-03 00:00:00",
            },
        },
        errors={404: None, 422: {"webhook_not_signed": "Webhooks of this type are not signed."}},
        idempotent=True,
    )
)
