"""The shipments that samples of test deliveries are made from (decision W24)."""

from django.db.models import F

from shipments.models import Shipment

DESCRIPTION = "Sample of a webhook test"


def find_shipment(company_id: int, tracking_number: str) -> Shipment | None:
    """The company's newest shipment with this tracking number."""
    own = Shipment.objects.filter(company=company_id).numbered([tracking_number])
    return own.order_by(F("place"), "-pk").first()


def made_up_shipment(tracking_number: str) -> Shipment:
    return Shipment(id=1, tracking_number=tracking_number, carrier_name="sample")
