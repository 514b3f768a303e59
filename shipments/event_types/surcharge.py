"""Event type of a surcharge or its refund: payload, schema and sample.

The interface defines the keys.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from core.values.texts import gettext_noop
from shipments.event_types.samples import DESCRIPTION, LARGE_ID, find_shipment, made_up_shipment
from shipments.models import Shipment, Surcharge
from webhooks.envelope import NUMBER, TEXT, envelope, envelope_schema, object_schema
from webhooks.event_types import EventType, Payload, registry


@dataclass(frozen=True, kw_only=True)
class SurchargeEvent(EventType):
    tag: str = "Shipping"

    def payload(self, shipment: Shipment, charge: Surcharge, at: datetime) -> Payload:
        data = {
            "surcharge_id": charge.surcharge_id,
            "shipment_id": shipment.pk,
            "tracking_number": shipment.tracking_number,
            "carrier_name": shipment.carrier_name,
            "surcharge_data": {
                "surcharge_type": charge.surcharge_type,
                "reason": charge.reason,
                "amount": number(charge.amount),
                "currency": charge.currency,
                "transaction_type": charge.transaction_type,
            },
        }
        return envelope(self.name, at, data)

    def sample(self, company_id: int, tracking_number: str, now: datetime) -> Payload:
        shipment = find_shipment(company_id, tracking_number)
        charge = shipment and shipment.surcharges.order_by("-pk").first()
        return self.payload(
            shipment or made_up_shipment(tracking_number), charge or made_up_charge(), now
        )


def number(amount: Decimal) -> int | float:
    """Convert an amount to a JSON number, such as 120 or 12.5. Floats are exact to 15 digits."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def made_up_charge() -> Surcharge:
    return Surcharge(
        surcharge_id=LARGE_ID,
        transaction_type=Surcharge.Transaction.SURCHARGE.value,
        surcharge_type="Overweight",
        reason=DESCRIPTION,
        amount=Decimal(10),
        currency="MXN",
    )


SURCHARGE = SurchargeEvent(
    id=5,
    name="surcharge",
    signed=True,
    description=gettext_noop("An extra charge was applied to a shipment, or refunded."),
    schema=envelope_schema(
        "surcharge",
        object_schema(
            surcharge_id=NUMBER,
            shipment_id=NUMBER,
            tracking_number=TEXT,
            carrier_name=TEXT,
            surcharge_data=object_schema(
                surcharge_type=TEXT,
                reason=TEXT,
                amount={"type": "number", "exclusiveMinimum": 0},
                currency={"type": "string", "pattern": "^[A-Z]{3}$"},
                transaction_type={"type": "string", "enum": ["surcharge", "refund"]},
            ),
        ),
    ),
)
registry.register(SURCHARGE)
