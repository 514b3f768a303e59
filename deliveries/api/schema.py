"""Description of the delivery endpoints in GET /schema."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from core.api.schema import operation
from core.api.shapes import Acknowledgement, NextCursor, Time, shape
from deliveries.api.serializers import LogQuery, Window
from deliveries.http.answers import Failure
from deliveries.models import STATES
from deliveries.redelivery import MOST_A_DAY
from webhooks.api.shapes import TypeName

TAG = "Deliveries"
ERRORS = [failure.value for failure in Failure if failure not in (Failure.NOT_SENT, Failure.PROXY)]
ID = "6f1c1e0a-6c1f-4d2b-9a39-8f6f1c7d0b11"


class DeliveryRow(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="The X-Webhook-Id of every attempt.")
    event = TypeName(allow_null=True)
    state = serializers.ChoiceField(choices=list(STATES))
    attempts = serializers.IntegerField()
    due_at = Time(
        allow_null=True, help_text="Time of the next attempt, while the delivery is waiting."
    )
    last_status = serializers.IntegerField(allow_null=True)
    last_error = serializers.ChoiceField(
        choices=ERRORS, allow_null=True, help_text="Why there was no response."
    )
    shipment_id = serializers.IntegerField(allow_null=True)
    ticket_id = serializers.IntegerField(
        allow_null=True, help_text="The ticket that the event tells of, if it tells of one."
    )
    tracking_number = serializers.CharField(allow_null=True, allow_blank=True)
    request_id = serializers.CharField(
        allow_null=True,
        help_text="The X-Request-Id of the request that caused the event, if one did.",
    )
    created_at = Time()
    finished_at = Time(allow_null=True)


DeliveryList = shape(
    "DeliveryList",
    data=DeliveryRow(many=True),
    next_cursor=NextCursor(
        allow_null=True, help_text="Send it as `cursor` to get older rows; null on the last page."
    ),
)


AttemptRow = shape(
    "AttemptRow",
    number=serializers.IntegerField(),
    started_at=Time(),
    duration_ms=serializers.IntegerField(),
    url=serializers.CharField(),
    status=serializers.IntegerField(allow_null=True),
    error=serializers.ChoiceField(choices=ERRORS, allow_null=True),
    detail=serializers.CharField(allow_null=True),
    answer=serializers.CharField(
        allow_blank=True, help_text="The first 16 KiB of the response body."
    ),
)


class DeliveryDetailRow(DeliveryRow):
    webhook_id = serializers.IntegerField()
    body = serializers.CharField(allow_null=True, help_text="The exact body that we send.")
    log = AttemptRow(many=True)


DeliveryDetail = shape(
    "DeliveryDetail",
    data=DeliveryDetailRow(),
)


class Recovery(serializers.Serializer[Any]):
    redelivered = serializers.IntegerField()


Recovered = shape(
    "Recovered",
    data=Recovery(),
)


ROW = {
    "id": ID,
    "event": "tracking.simple",
    "state": "given_up",
    "attempts": 10,
    "due_at": None,
    "last_status": 500,
    "last_error": None,
    "shipment_id": 4101,
    "ticket_id": None,
    "tracking_number": "TEST0004101",
    "request_id": "0b8f6f1d3c5e4b7a9d2c1e0f8a7b6c5d",
    "created_at": "2026-01-02 00:00:00",
    "finished_at": "2026-01-06 03:00:05",
}
ATTEMPT = {
    "number": 1,
    "started_at": "2026-01-02 00:00:00",
    "duration_ms": 83,
    "url": "https://hooks.example.com/parcels",
    "status": 500,
    "error": None,
    "detail": None,
    "answer": "out of order",
}

webhook_deliveries = extend_schema_view(
    get=operation(
        "listDeliveries",
        "List a webhook's deliveries, newest first.",
        tag=TAG,
        query=LogQuery,
        answer=DeliveryList,
        shows={"data": [ROW], "next_cursor": None},
        errors={404: None},
    )
)

one_delivery = extend_schema_view(
    get=operation(
        "readDelivery",
        "Read one delivery: its body and every attempt.",
        tag=TAG,
        answer=DeliveryDetail,
        shows={
            "data": {
                **ROW,
                "webhook_id": 7,
                "body": '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z"}',
                "log": [ATTEMPT],
            }
        },
        errors={404: None},
    )
)

TOO_OFTEN = {
    "redelivery_limit": f"A delivery can be asked for again {MOST_A_DAY} times a day; the day ends"
    " at midnight UTC."
}

redeliver = extend_schema_view(
    post=operation(
        "redeliver",
        "Send a delivery again now.",
        tag=TAG,
        about="The X-Webhook-Id stays the same. A delivery that waits for a retry is sent now."
        f" Each can be asked for {MOST_A_DAY} times a day (UTC), here and by `recover` together.",
        answer=Acknowledgement,
        shows={"data": True},
        errors={
            404: None,
            422: {"webhook_deleted": "The webhook of this delivery is deleted."},
            429: TOO_OFTEN,
        },
        idempotent=True,
    )
)

recover = extend_schema_view(
    post=operation(
        "recover",
        "Send every delivery of a period that was given up or still waits, in order.",
        tag=TAG,
        about="Counts all of them. None is sent before the time that a Retry-After asked for. What"
        f" was asked for {MOST_A_DAY} times today (UTC) is left out.",
        body=Window,
        sends={"a morning": {"since": "2026-01-02T06:00:00Z", "until": "2026-01-02T12:00:00Z"}},
        answer=Recovered,
        shows={"data": {"redelivered": 12}},
        errors={
            404: None,
            422: {
                "webhook_without_url": "This webhook has no URL, so nothing is sent:"
                " GET /webhooks/7/events has its events."
            },
            429: TOO_OFTEN,
        },
        idempotent=True,
    )
)
