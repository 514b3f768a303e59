"""How the shipping endpoints and the webhook payloads are described (GET /schema)."""

from typing import Any

from drf_spectacular.utils import OpenApiWebhook, extend_schema_view
from rest_framework import serializers

from companies.api.schema import SHIPPING, operation
from companies.api.shapes import Time, shape
from shipments.api.serializers import SendSample, TrackShipments
from webhooks.event_types import CATALOGUE

TAG = "Shipping"
Schema = dict[str, Any]


class EventRow(serializers.Serializer[Any]):
    timestamp = Time()
    location = serializers.CharField(allow_blank=True)
    description = serializers.CharField()


class ShipmentRow(serializers.Serializer[Any]):
    company = serializers.CharField()
    companyId = serializers.IntegerField()
    carrier = serializers.CharField()
    carrierId = serializers.IntegerField(allow_null=True)
    shipmentId = serializers.IntegerField()
    trackingNumber = serializers.CharField()
    status = serializers.CharField()
    createdAt = Time()
    shippedAt = Time(allow_null=True)
    deliveredAt = Time(allow_null=True)
    eventHistory = EventRow(many=True)


Tracked = shape(
    "Tracked",
    meta=serializers.ChoiceField(choices=["generaltrack"]),
    data=ShipmentRow(many=True),
)


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
        about="Numbers that are unknown, or another company's, are left out of the answer.",
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

webhook_test = extend_schema_view(
    post=operation(
        "testWebhook",
        "Send a sample payload to a URL now.",
        tag=TAG,
        about="Of the type of your webhook with this URL, else tracking.simple. The request"
        " carries Content-Type and Authorization, never X-Webhook headers. The answer is 200"
        " also when the receiver fails.",
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
        face=SHIPPING,
    )
)


def record(**fields: Schema) -> Schema:
    """An object that has these members, all of them and no other."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
MOMENT = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}
AS_THE_SHOP_HAS_IT = {"type": ["string", "integer", "null"]}

LEGACY = {"carrierName": TEXT, "trackingNumber": TEXT, "status": TEXT}
TRACKING = {
    "shipment_id": NUMBER,
    "tracking_number": TEXT,
    "carrier_name": TEXT,
    "status": {"type": "string", "description": "Lower case, such as delivered."},
    "status_description": TEXT,
    "location": TEXT,
}
ORDER = record(
    shop_id=AS_THE_SHOP_HAS_IT,
    order_identifier=AS_THE_SHOP_HAS_IT,
    order_number=AS_THE_SHOP_HAS_IT,
    order_name=AS_THE_SHOP_HAS_IT,
)
LEGACY_ORDER = record(
    shopId=AS_THE_SHOP_HAS_IT,
    orderIdentifier=AS_THE_SHOP_HAS_IT,
    orderNumber=AS_THE_SHOP_HAS_IT,
    orderName=AS_THE_SHOP_HAS_IT,
)
SURCHARGE = record(
    surcharge_type=TEXT,
    reason=TEXT,
    amount={"type": "number", "exclusiveMinimum": 0},
    currency={"type": "string", "pattern": "^[A-Z]{3}$"},
    transaction_type={"type": "string", "enum": ["surcharge", "refund"]},
)
CHARGED = {
    "surcharge_id": NUMBER,
    "shipment_id": NUMBER,
    "tracking_number": TEXT,
    "carrier_name": TEXT,
    "surcharge_data": SURCHARGE,
}


def envelope(name: str, data: Schema) -> Schema:
    return record(type={"type": "string", "enum": [name]}, created_at=MOMENT, data=data)


PAYLOADS = {
    "onShipmentStatusUpdate": record(**LEGACY),
    "statusUpdateWithEcommerceInfo": record(
        **LEGACY,
        movementDate={"type": "string", "description": "YYYY-MM-DD HH:MM:SS, UTC."},
        orderData=LEGACY_ORDER,
    ),
    "tracking.simple": envelope("tracking.simple", record(**TRACKING)),
    "ecommerceTracking": envelope("ecommerceTracking", record(**TRACKING, order_data=ORDER)),
    "surcharge": envelope("surcharge", record(**CHARGED)),
}
SIGNED_HEADERS = {
    "X-Webhook-Event": ("The event's name.", TEXT),
    "X-Webhook-Version": ("The version of the payload, a date.", TEXT),
    "X-Webhook-Id": ("The delivery: the same on every attempt.", {**TEXT, "format": "uuid"}),
    "X-Webhook-Timestamp": ("Of this attempt, in milliseconds since 1970.", NUMBER),
    "X-Webhook-Signature": (
        "`v1=` and the HMAC-SHA256 of timestamp, dot, event, dot, body.",
        {**TEXT, "pattern": "^v1=[a-f0-9]{64}$"},
    ),
}
SENT_HEADERS = {"Authorization": ("`Bearer` and the webhook's auth_token, where it has one.", TEXT)}


def received(name: str, description: str, signed: bool) -> OpenApiWebhook:
    """What a receiver of this type of webhook is sent, and answers."""
    headers = SENT_HEADERS | (SIGNED_HEADERS if signed else {})
    return OpenApiWebhook(
        name,
        {
            "post": {
                "summary": description,
                "tags": [TAG],
                "parameters": [
                    {
                        "name": header,
                        "in": "header",
                        "required": header != "Authorization",
                        "description": about,
                        "schema": schema,
                    }
                    for header, (about, schema) in headers.items()
                ],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": PAYLOADS[name]}},
                },
                "responses": {"2XX": {"description": "Taken. Everything else is tried again."}},
            }
        },
    )


(
    on_shipment_status_update,
    status_update_with_ecommerce_info,
    tracking_simple,
    ecommerce_tracking,
    surcharge,
) = [received(entry.name, entry.description, entry.signed) for entry in CATALOGUE.values()]
