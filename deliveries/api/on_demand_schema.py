"""Description of the endpoints for event streams and signed tests in GET /schema."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from core.api.schema import operation
from core.api.shapes import NextCursor, Time, shape
from deliveries.api.schema import ID, TAG
from deliveries.api.serializers import StreamQuery
from deliveries.on_demand import advice
from webhooks.api.shapes import TypeName

FACT_ID = "0c5e2a4e-4b1a-4a5f-8a43-0a6f1f9f2b77"
CURSOR = "eZ0Yx3nq5m2oVb8T1uQ7rLk4JcWfHs9aPdGiNtEyRAM"


class StreamedEvent(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="The X-Webhook-Id; the same at every fetch.")
    event_id = serializers.UUIDField(help_text="The same for all that tells what happened.")
    event = TypeName()
    sequence = serializers.IntegerField(
        help_text="Grows with everything that happens to the same shipment."
    )
    created_at = Time()
    headers = serializers.DictField(
        child=serializers.CharField(),
        help_text="What a delivery of this moment would carry, without Authorization.",
    )
    body = serializers.CharField(help_text="The exact text, as it is sent and signed.")


StreamedEvents = shape(
    "StreamedEvents",
    data=StreamedEvent(many=True),
    next_cursor=NextCursor(help_text="Send it as `after` to go on; always there."),
)


class TrialVerdict(serializers.Serializer[Any]):
    delivered = serializers.BooleanField(help_text="The receiver answered 2xx.")
    status = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    duration_ms = serializers.IntegerField()
    rejects_tampered = serializers.BooleanField(
        allow_null=True,
        help_text="Whether it refused a body that was changed after signing. null: not tried, as"
        " the type is unsigned or the first request failed; or not answered.",
    )
    advice = serializers.ListField(
        child=serializers.CharField(), help_text="What to do, a sentence each; empty: all is well."
    )


WebhookTested = shape(
    "WebhookTested",
    meta=serializers.ChoiceField(choices=["webhook_tested"]),
    data=TrialVerdict(),
)

EVENT = {
    "id": ID,
    "event_id": FACT_ID,
    "event": "tracking.simple",
    "sequence": 4711,
    "created_at": "2026-01-02 00:00:00",
    "headers": {
        "Content-Type": "application/json",
        "User-Agent": "parceldesk/1.0",
        "X-Webhook-Event": "tracking.simple",
        "X-Webhook-Version": "2025-09-01",
        "X-Webhook-Id": ID,
        "X-Webhook-Event-Id": FACT_ID,
        "X-Webhook-Sequence": "4711",
        "X-Webhook-Timestamp": "1767312000000",
        "X-Webhook-Signature": f"v1={'0f' * 32}",
    },
    "body": '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z"}',
}
EXPIRED = {
    "cursor_expired": "This cursor is too old: events behind it may have been deleted. Begin again"
    " without `after`, and skip what you have by its `id`."
}
UNREADABLE = {
    "webhook_unreadable": "We can no longer read this webhook's secret. Make a new one with"
    " POST /webhooks/7/secret."
}
WITHOUT_URL = {
    "webhook_without_url": "This webhook has no URL, so nothing is sent: GET /webhooks/7/events"
    " has its events."
}

webhook_events = extend_schema_view(
    get=operation(
        "listEvents",
        "Read a webhook's events, oldest first.",
        tag=TAG,
        about="Works for every webhook, with or without a URL. Without `after` it begins with the"
        " oldest event that is stored. No event is ever skipped behind a cursor.",
        query=StreamQuery,
        answer=StreamedEvents,
        shows={"data": [EVENT], "next_cursor": CURSOR},
        errors={
            404: None,
            410: EXPIRED,
            422: UNREADABLE,
        },
    )
)

webhook_trial = extend_schema_view(
    post=operation(
        "tryWebhook",
        "Send a signed sample to a webhook, and the same with one byte changed.",
        tag=TAG,
        about="Both carry all headers of a delivery, and X-Webhook-Test: 1. They are no deliveries."
        " Unsigned types get one request, without X-Webhook headers.",
        answer=WebhookTested,
        shows={
            "meta": "webhook_tested",
            "data": {
                "delivered": True,
                "status": 200,
                "error": None,
                "duration_ms": 83,
                "rejects_tampered": False,
                "advice": [advice.ACCEPTS_TAMPERED],
            },
        },
        errors={
            404: None,
            422: {
                **WITHOUT_URL,
                "target_not_allowed": "This webhook's URL is no longer allowed.",
                "type_unavailable": "Events of this type cannot be sent at present. Try again"
                " later.",
            },
            429: {
                "test_send_limit": "2 of your test sends are in progress. Try again when they have"
                " ended."
            },
        },
    )
)
