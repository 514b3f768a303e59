"""Endpoints of the test environment that play the shipping platform (decision N15)."""

from typing import Any, cast

from django.http import Http404
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_view
from rest_framework import serializers
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, Conflict, idempotent
from core.api.bodies import Body, Word, WrongField
from core.api.schema import operation
from core.api.shapes import Shape, shape
from core.values.currencies import CURRENCIES
from core.values.ids import LARGEST_ID
from shipments import sandbox
from shipments.feed import fields, parsing
from shipments.models import Shipment

TAG = "Shipping"
EVENTS = ("tracking", "surcharge", "incidence")
# Fields that get a made-up value if they are left out.
MADE_UP = {"shipment_id", "tracking_number", "carrier_name", "surcharge_id", "incidence_id"}
ID = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}
ORDER_FIELD = {"type": ["string", "integer", "null"], "maxLength": fields.LONGEST_ORDER_FIELD}


def text(longest: int, shortest: int = 0) -> dict[str, Any]:
    return {"type": "string", "minLength": shortest, "maxLength": longest}


# Schemas of the feed's fields, for the API's description; the feed's readers check them.
TAKES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("shipment_id", "carrier_id", "surcharge_id", "incidence_id"), ID),
    **dict.fromkeys(("tracking_number", "carrier_name", "status", "surcharge_type"), text(100, 1)),
    **dict.fromkeys(("status_description", "reason", "description"), text(500)),
    "location": text(300),
    "incidence_kind": text(50),
    "occurred_at": {"type": "string", "format": "date-time"},
    "amount": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 10**10},
    "currency": {"type": "string", "enum": sorted(CURRENCIES)},
    "transaction_type": {"type": "string", "enum": [*fields.TRANSACTIONS]},
    "open": {"type": "boolean"},
    "order": {
        "type": "object",
        "properties": dict.fromkeys(fields.ORDER_FIELDS, ORDER_FIELD),
        "required": [*fields.ORDER_FIELDS],
        "additionalProperties": False,
    },
}


class FeedField(serializers.Field[Any, Any, Any, Any]):
    """A field of the feed, read as `ingest` reads it."""

    def __init__(self, kind: str, name: str, **options: Any) -> None:
        super().__init__(**options)
        self.reader = parsing.KINDS[kind].readers[name]
        self.takes = TAKES[name]

    def to_internal_value(self, data: Any) -> Any:
        try:
            return self.reader(data)
        except ValueError as error:
            reason = str(error)
            message = f"{reason[:1].upper()}{reason[1:]}."
            raise serializers.ValidationError(message, code="not_in_feed") from error


class FeedFieldDescription(OpenApiSerializerFieldExtension):
    target_class = "shipments.api.sandbox.FeedField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return dict(self.target.takes)


def fields_of(kind: str, *without: str) -> dict[str, FeedField]:
    """Return the fields of a kind of line; a null means "left out", as in the feed."""
    line_kind = parsing.KINDS[kind]
    needed = set(line_kind.required) - MADE_UP
    return {
        name: FeedField(kind, name, required=name in needed, allow_null=name not in needed)
        for name in line_kind.readers
        if name not in ("kind", *without)
    }


def read_values(body: type[Body], request: CompanyRequest) -> dict[str, Any]:
    values = body.read(request)
    return {name: value for name, value in values.items() if value is not None}


PlayedShipment = cast(
    type[Body], shape("PlayedShipment", Body, **fields_of("shipment", "company_id"))
)
# Bodies of events, by kind.
PLAYED = {
    kind: cast(
        type[Body],
        shape(
            f"Played{kind.capitalize()}",
            Body,
            kind=Word(choices=[kind]),
            **fields_of(kind, "shipment_id"),
        ),
    )
    for kind in EVENTS
}
PlayedEvent = cast(
    Shape, PolymorphicProxySerializer("PlayedEvent", {**PLAYED}, resource_type_field_name="kind")
)
ShipmentMade = shape(
    "ShipmentMade",
    data=shape(
        "ShipmentMadeData",
        shipment_id=serializers.IntegerField(),
        tracking_number=serializers.CharField(),
    )(),
)
EventPlayed = shape(
    "EventPlayed",
    data=shape(
        "EventPlayedData",
        shipment_id=serializers.IntegerField(),
        id=serializers.IntegerField(
            allow_null=True, help_text="The surcharge_id or incidence_id; null for tracking."
        ),
        changed=serializers.BooleanField(help_text="False if the same has been said before."),
        events=serializers.IntegerField(help_text="Events that webhooks may listen for."),
    )(),
)
CONFLICT = {"id_taken": "This id belongs to another incidence, or to the same with other content."}


@extend_schema_view(
    post=operation(
        "playShipment",
        "Test environment only: make a shipment of yours.",
        tag=TAG,
        about="What is left out is made up. With the shipment_id of a shipment of yours, that one"
        " is brought up to date.",
        body=PlayedShipment,
        sends={
            "a parcel": {"tracking_number": "TEST0009001", "carrier_name": "acme"},
            "anything": {},
        },
        answer=ShipmentMade,
        shows={"data": {"shipment_id": 1234567890123, "tracking_number": "TEST0009001"}},
        errors={409: CONFLICT},
        idempotent=True,
    )
)
class PlayedShipments(CompanyView):
    @idempotent
    def post(self, request: CompanyRequest) -> Response:
        try:
            shipment = sandbox.play_shipment(request.company, read_values(PlayedShipment, request))
        except sandbox.IdTaken as error:
            raise Conflict(str(error), code="id_taken") from error
        data = {"shipment_id": shipment.pk, "tracking_number": shipment.tracking_number}
        return Response({"data": data})


@extend_schema_view(
    post=operation(
        "playEvent",
        "Test environment only: have something happen to a shipment of yours.",
        tag=TAG,
        about="Takes what the shipping platform tells us, and does what its lines do: webhooks"
        " get their events, tickets their incidences.",
        body=PlayedEvent,
        sends={
            "a scan": {"kind": "tracking", "status": "Delivered", "location": "León, MX"},
            "a charge": {
                "kind": "surcharge",
                "surcharge_type": "Overweight",
                "amount": 12.5,
                "currency": "MXN",
                "transaction_type": "surcharge",
            },
            "a problem": {"kind": "incidence", "incidence_kind": "damaged"},
        },
        answer=EventPlayed,
        shows={"data": {"shipment_id": 4101, "id": None, "changed": True, "events": 1}},
        errors={404: None, 409: CONFLICT},
        idempotent=True,
    )
)
class PlayedEvents(CompanyView):
    @idempotent
    def post(self, request: CompanyRequest, shipment_id: int) -> Response:
        kind = request.data.get("kind") if isinstance(request.data, dict) else None
        if not isinstance(kind, str) or kind not in PLAYED:
            raise WrongField("kind", f"Send one of {', '.join(EVENTS)}.", code="invalid_choice")
        values = read_values(PLAYED[kind], request)
        del values["kind"]
        try:
            played = sandbox.play_event(request.company, shipment_id, kind, values)
        except Shipment.DoesNotExist as error:
            raise Http404 from error
        except sandbox.IdTaken as error:
            raise Conflict(str(error), code="id_taken") from error
        return Response({"data": {"shipment_id": shipment_id, **played._asdict()}})
