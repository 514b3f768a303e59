from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import F
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, LimitReached
from core.api.bodies import WrongField
from deliveries.on_demand import sample_delivery
from shipments.api import lookup, schema
from shipments.api.serializers import SendSample, TrackShipments
from shipments.models import Shipment, TrackingUpdate
from webhooks.targets import BadTarget

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


@schema.general_track
class GeneralTrack(CompanyView):
    compressible = True

    # Clients poll this POST, which only reads.
    rate = "read"

    @extend_schema(request=TrackShipments)
    def post(self, request: CompanyRequest) -> Response:
        numbers = TrackShipments.read(request)["trackingNumbers"]
        shipments = lookup.find_shipments(request.company, numbers)
        data = [shipment_payload(shipment, request.company.name) for shipment in shipments]
        return Response({"meta": "generaltrack", "data": data})


@schema.guide
class Guide(CompanyView):
    """Lookup of a shipment's id by its tracking number (decision N10)."""

    compressible = True

    def get(self, request: CompanyRequest, tracking_number: str) -> Response:
        own = request.company.shipments.numbered([tracking_number]).order_by(F("place"), "-pk")
        return Response({"data": [guide_payload(each) for each in own.defer("order", "heard")]})


@schema.webhook_test
class WebhookTest(CompanyView):
    """Test send without idempotency keys: a caller who repeats the request wants to send again."""

    rate = "send"

    @extend_schema(request=SendSample)
    def post(self, request: CompanyRequest) -> Response:
        body = SendSample.read(request)
        try:
            result = sample_delivery.send_sample(
                request.company,
                tracking_number=body["tracking_number"],
                url=body["webhook_url"],
            )
        except BadTarget as error:
            raise WrongField("webhook_url", str(error), code="target_not_allowed") from error
        except sample_delivery.TooManyTestSends as error:
            raise LimitReached(str(error), code="test_send_limit", wait=error.wait) from error
        return Response({"meta": "webhooktest", "data": asdict(result)})


def shipment_payload(shipment: Shipment, company_name: str) -> dict[str, Any]:
    return {
        "company": company_name,
        "companyId": shipment.company_id,
        "carrier": shipment.carrier_name,
        "carrierId": shipment.carrier_id or 0,
        "shipmentId": shipment.pk,
        "trackingNumber": shipment.tracking_number,
        "status": shipment.status,
        "createdAt": format_moment(shipment.created_at),
        "shippedAt": format_moment(shipment.shipped_at),
        "deliveredAt": format_moment(shipment.delivered_at),
        "eventHistory": [update_payload(update) for update in shipment.updates.all()],
    }


def guide_payload(shipment: Shipment) -> dict[str, Any]:
    return {
        "id": shipment.pk,
        "tracking_number": shipment.tracking_number,
        "carrier": shipment.carrier_name,
        "carrier_id": shipment.carrier_id or 0,
        "status": shipment.status,
        "status_id": 0,
    }


def update_payload(update: TrackingUpdate) -> dict[str, str | None]:
    return {
        "timestamp": format_moment(update.occurred_at),
        "location": update.location,
        "description": update.status_description or update.status,
    }


def format_moment(time: datetime | None) -> str | None:
    return time.strftime(TIME_FORMAT) if time else None
