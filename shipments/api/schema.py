"""Descriptions of the shipping endpoints in GET /schema."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from core.api.refusals import SHIPPING
from core.api.schema import operation
from core.api.shapes import Time, shape
from shipments.api.serializers import SendSample, TrackShipments

TAG = "Shipping"


class EventRow(serializers.Serializer[Any]):
    timestamp = Time()
    location = serializers.CharField(allow_blank=True)
    description = serializers.CharField()


class ShipmentRow(serializers.Serializer[Any]):
    company = serializers.CharField()
    companyId = serializers.IntegerField()
    carrier = serializers.CharField()
    carrierId = serializers.IntegerField(help_text="0 where we know none.")
    shipmentId = serializers.IntegerField()
    trackingNumber = serializers.CharField()
    status = serializers.CharField()
    createdAt = Time()
    shippedAt = Time(allow_null=True)
    deliveredAt = Time(allow_null=True)
    eventHistory = EventRow(many=True, help_text="Newest first.")


Tracked = shape(
    "Tracked",
    meta=serializers.ChoiceField(choices=["generaltrack"]),
    data=ShipmentRow(many=True),
)


class GuideRow(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="The shipment_id of a ticket.")
    tracking_number = serializers.CharField()
    carrier = serializers.CharField()
    carrier_id = serializers.IntegerField(help_text="0 where we know none.")
    status = serializers.CharField()
    status_id = serializers.IntegerField(help_text="Always 0: statuses are names here.")


Guides = shape("Guides", data=GuideRow(many=True, help_text="Empty where it is unknown."))


SampleResult = shape(
    "SampleResult",
    delivered=serializers.BooleanField(),
    status=serializers.IntegerField(allow_null=True),
    error=serializers.CharField(allow_null=True),
    duration_ms=serializers.IntegerField(),
)


SampleSent = shape(
    "SampleSent",
    meta=serializers.ChoiceField(choices=["webhooktest"]),
    data=SampleResult(),
)


general_track = extend_schema_view(
    post=operation(
        "trackShipments",
        "Look up shipments by tracking number.",
        tag=TAG,
        about="Unknown numbers and other companies' numbers are left out of the response.",
        body=TrackShipments,
        sends={"two": {"trackingNumbers": ["TEST0004101", "TEST0004102"]}},
        answer=Tracked,
        shows={
            "meta": "generaltrack",
            "data": [
                {
                    "company": "Acme",
                    "companyId": 1,
                    "carrier": "acme",
                    "carrierId": 3,
                    "shipmentId": 4101,
                    "trackingNumber": "TEST0004101",
                    "status": "Delivered",
                    "createdAt": "2026-01-01 10:00:00",
                    "shippedAt": "2026-01-01 18:00:00",
                    "deliveredAt": "2026-01-02 00:00:00",
                    "eventHistory": [
                        {
                            "timestamp": "2026-01-02 00:00:00",
                            "location": "León, MX",
                            "description": "Left at door",
                        }
                    ],
                }
            ],
        },
        face=SHIPPING,
    )
)

guide = extend_schema_view(
    get=operation(
        "readGuide",
        "Find a shipment of yours by its tracking number.",
        tag=TAG,
        about="The list is empty where the number is unknown, or another company's. Where several"
        " shipments have it, the newest comes first.",
        answer=Guides,
        shows={
            "data": [
                {
                    "id": 4101,
                    "tracking_number": "TEST0004101",
                    "carrier": "acme",
                    "carrier_id": 3,
                    "status": "Delivered",
                    "status_id": 0,
                }
            ]
        },
    )
)

webhook_test = extend_schema_view(
    post=operation(
        "testWebhook",
        "Send a sample payload to a URL now.",
        tag=TAG,
        about="The sample is of the type of your webhook with this URL, otherwise"
        " tracking.simple. The request carries Content-Type and Authorization, but no X-Webhook"
        " headers. The response is 200 even if the receiver fails.",
        body=SendSample,
        sends={
            "a test": {
                "tracking_number": "TEST0004101",
                "webhook_url": "https://hooks.example.com/parcels",
            }
        },
        answer=SampleSent,
        shows={
            "meta": "webhooktest",
            "data": {"delivered": True, "status": 200, "error": None, "duration_ms": 83},
        },
        errors={
            429: {
                "test_send_limit": "2 of your test sends are in progress. Try again when they have"
                " ended."
            }
        },
        face=SHIPPING,
    )
)
