"""The exact bytes of every type, against JSON written by hand (decisions W10, W14 to W18)."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from deliveries.publishing import encode
from shipments.event_types.status import (
    ECOMMERCE_TRACKING,
    ON_SHIPMENT_STATUS_UPDATE,
    STATUS_UPDATE_WITH_ECOMMERCE_INFO,
    TRACKING_SIMPLE,
    Change,
    StatusEvent,
)
from shipments.event_types.surcharge import SURCHARGE
from shipments.models import Shipment, Surcharge
from tests.shipments.feeding import ORDER

NOW = datetime(2026, 1, 2, 0, 0, 0, 999, tzinfo=UTC)
LEFT_AT_DOOR = Change(
    status="Delivered",
    description="Left at door",
    location="León, MX",
    occurred_at=datetime(2026, 1, 1, 17, 4, 5, tzinfo=timezone(timedelta(hours=-6))),
)
TYPE_1 = '{"carrierName":"acme","trackingNumber":"TEST0004101","status":"Delivered"}'
TYPE_2 = (
    '{"carrierName":"acme","trackingNumber":"TEST0004101","status":"Delivered",'
    '"movementDate":"2026-01-01 23:04:05","orderData":{"shopId":77,"orderIdentifier":"5501",'
    '"orderNumber":"1042","orderName":"#1042"}}'
)
# The body of the signature's known-answer vector.
TYPE_3 = (
    '{"type":"tracking.simple","created_at":"2026-01-02T00:00:00.000Z","data":{"shipment_id":4101,'
    '"tracking_number":"TEST0004101","carrier_name":"acme","status":"delivered",'
    '"status_description":"Left at door","location":"León, MX"}}'
)
TYPE_4 = (
    '{"type":"ecommerceTracking","created_at":"2026-01-02T00:00:00.000Z","data":{'
    '"shipment_id":4101,"tracking_number":"TEST0004101","carrier_name":"acme",'
    '"status":"delivered","status_description":"Left at door","location":"León, MX",'
    '"order_data":{"shop_id":77,"order_identifier":"5501","order_number":"1042",'
    '"order_name":"#1042"}}}'
)
TYPE_5 = (
    '{"type":"surcharge","created_at":"2026-01-02T00:00:00.000Z","data":{"surcharge_id":31,'
    '"shipment_id":4101,"tracking_number":"TEST0004101","carrier_name":"acme","surcharge_data":{'
    '"surcharge_type":"Return to Origin","reason":"","amount":%s,"currency":"MXN",'
    '"transaction_type":"refund"}}}'
)


def parcel() -> Shipment:
    return Shipment(id=4101, tracking_number="TEST0004101", carrier_name="acme", order=ORDER)


@pytest.mark.parametrize(
    ("event_type", "body"),
    [
        (ON_SHIPMENT_STATUS_UPDATE, TYPE_1),
        (STATUS_UPDATE_WITH_ECOMMERCE_INFO, TYPE_2),
        (TRACKING_SIMPLE, TYPE_3),
        (ECOMMERCE_TRACKING, TYPE_4),
    ],
)
def test_says_a_change_of_status_in_these_bytes(event_type: StatusEvent, body: str) -> None:
    payload = event_type.payload(parcel(), LEFT_AT_DOOR, NOW)

    assert encode(payload) == body.encode()


@pytest.mark.parametrize(
    ("amount", "amount_in_body"),
    [("12.5000", "12.5"), ("120.0000", "120"), ("0.1", "0.1"), ("9999999999.9999",) * 2],
)
def test_says_a_surcharge_in_these_bytes_and_its_amount_without_noise(
    amount: str, amount_in_body: str
) -> None:
    charge = Surcharge(
        surcharge_id=31,
        transaction_type="refund",
        surcharge_type="Return to Origin",
        amount=Decimal(amount),
        currency="MXN",
    )

    body = encode(SURCHARGE.payload(parcel(), charge, NOW))

    assert body == (TYPE_5 % amount_in_body).encode()


def test_tells_created_at_in_utc_with_three_decimals() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=-6)))

    payload = TRACKING_SIMPLE.payload(parcel(), LEFT_AT_DOOR, now)

    assert payload["created_at"] == "2026-01-02T09:04:05.678Z"
