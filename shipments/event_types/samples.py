"""The shipments that samples of test deliveries are made from (decision W24)."""

from django.db.models import F

from shipments.models import Shipment

# Trips a receiver that writes the body again before it verifies, or reads it as latin-1:
# accents, quotes, an emoji, a decimal; and, where nobody counts on 1, an id that JavaScript cannot
# hold.
DESCRIPTION = 'Sample of a webhook test: León · “ñ” "x" 📦 12.5'
LOCATION = "León, MX"
LARGE_ID = 2**53 + 1


def find_shipment(company_id: int, tracking_number: str) -> Shipment | None:
    """The company's newest shipment with this tracking number."""
    own = Shipment.objects.filter(company=company_id).numbered([tracking_number])
    return own.order_by(F("place"), "-pk").first()


def made_up_shipment(tracking_number: str) -> Shipment:
    return Shipment(id=1, tracking_number=tracking_number, carrier_name="sample")
