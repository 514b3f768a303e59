"""Shipments and values for the samples of test deliveries (decision W24)."""

from django.db.models import F

from shipments.models import Shipment

# Accents, quotes, an emoji and a decimal, which reveal a receiver that parses and serializes the
# body before it verifies the signature, or reads it as latin-1. The large id exceeds JavaScript's
# integers; it is used where no receiver relies on 1.
DESCRIPTION = 'Sample of a webhook test: León · “ñ” "x" 📦 12.5'
LOCATION = "León, MX"
LARGE_ID = 2**53 + 1


def find_shipment(company_id: int, tracking_number: str) -> Shipment | None:
    """Return the company's newest shipment with this tracking number, or None."""
    own = Shipment.objects.filter(company=company_id).numbered([tracking_number])
    return own.order_by(F("place"), "-pk").first()


def made_up_shipment(tracking_number: str) -> Shipment:
    return Shipment(id=1, tracking_number=tracking_number, carrier_name="sample")
