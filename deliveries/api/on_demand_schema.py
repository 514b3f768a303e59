"""How the endpoints for what a company asks for are described (GET /schema)."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema_view
from rest_framework import serializers

from companies.api.schema import operation
from companies.api.shapes import Error, Time, shape
from deliveries.api.schema import ID, TAG
from deliveries.api.serializers import StreamQuery
from webhooks.api.shapes import TypeName

FACT_ID = "0c5e2a4e-4b1a-4a5f-8a43-0a6f1f9f2b77"
CURSOR = "4711-1767312000000000"


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
    next_cursor=serializers.CharField(help_text="Send it as `after` to go on; always there."),
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
    "statusCode": 410,
    "error": "Gone",
    "message": "This cursor is too old: events behind it may have been deleted. Begin again without"
    " `after`, and skip what you have by its `id`.",
    "code": "cursor_expired",
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
            410: OpenApiResponse(
                Error,
                "The cursor is too old: begin again without `after` (code `cursor_expired`).",
                [OpenApiExample("expired", EXPIRED)],
            ),
            422: "We can no longer read the webhook's secret: make a new one (code"
            " `webhook_unreadable`).",
        },
    )
)
