"""Requests to receivers, by event type: the webhooks of GET /schema."""

import re
from typing import Any

from webhooks.envelope import NUMBER, TEXT
from webhooks.event_types import EventType, Schema, registry

SENT_HEADERS: dict[str, tuple[str, Schema]] = {
    "Authorization": ("`Bearer` and the webhook's auth_token, where it has one.", TEXT)
}
SIGNED_HEADERS: dict[str, tuple[str, Schema]] = {
    "X-Webhook-Event": ("The event's name.", TEXT),
    "X-Webhook-Version": ("The payload version, a date.", TEXT),
    "X-Webhook-Id": (
        "Identifies the delivery; the same on every attempt.",
        {**TEXT, "format": "uuid"},
    ),
    "X-Webhook-Event-Id": (
        "Identifies what happened; the same for every webhook and event type that tells it.",
        {**TEXT, "format": "uuid"},
    ),
    "X-Webhook-Sequence": (
        "Grows with everything that happens to the same shipment, or to the same ticket.",
        NUMBER,
    ),
    "X-Webhook-Timestamp": ("Time of this attempt, in milliseconds since 1970.", NUMBER),
    "X-Webhook-Signature": (
        "`v1=` and the HMAC-SHA256 of timestamp, dot, event, dot, body.",
        {**TEXT, "pattern": "^v1=[a-f0-9]{64}$"},
    ),
}
# Sent if the webhook asks for them, or the request is a test.
OPTIONAL_HEADERS: dict[str, tuple[str, Schema]] = {
    "X-Webhook-Test": ("`1` on a test request.", {**TEXT, "enum": ["1"]}),
    "webhook-id": ("The X-Webhook-Id, where the webhook has standard_headers.", TEXT),
    "webhook-timestamp": ("Time of this attempt, in seconds since 1970.", NUMBER),
    "webhook-signature": (
        "`v1,` and the base64 HMAC-SHA256 of id, dot, timestamp, dot, body.",
        {**TEXT, "pattern": "^v1,[A-Za-z0-9+/]{43}=$"},
    ),
}


def with_webhooks(result: Schema, **_: Any) -> Schema:
    """Describe every registered type; a hook that drf-spectacular runs at each generation."""
    webhooks = {event_type.name: {"post": operation_of(event_type)} for event_type in registry}
    return {**result, "webhooks": webhooks}


def operation_of(event_type: EventType) -> Schema:
    """Describe the request that a receiver of this type gets, and its answer."""
    headers = SENT_HEADERS | (SIGNED_HEADERS | OPTIONAL_HEADERS if event_type.signed else {})
    words = re.findall("[A-Za-z]+", event_type.name)
    return {
        "operationId": "receive" + "".join(word[0].upper() + word[1:] for word in words),
        "summary": event_type.description,
        "tags": [event_type.tag],
        # The company's token is for our API: a receiver gets its webhook's own.
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": name in SIGNED_HEADERS,
                "description": about,
                "schema": schema,
            }
            for name, (about, schema) in headers.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": event_type.schema}},
        },
        "responses": {"2XX": {"description": "Accepted. We retry after any other response."}},
    }
