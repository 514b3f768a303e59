"""Request bodies that all senders use, the peers included. No Django."""

import json

BODY_BYTES = 400


def body(number: int) -> bytes:
    """Build a tracking event of BODY_BYTES that carries its number as the location."""
    return padded(number, BODY_BYTES - len(padded(number, 0)))


def padded(number: int, by: int) -> bytes:
    data = {
        "shipment_id": number + 1,
        "status": "SHIPPED",
        "description": "x" * by,
        "location": str(number),
    }
    event = {"type": "tracking.simple", "date": "2026-01-01T00:00:00Z", "data": data}
    return json.dumps(event, separators=(",", ":")).encode()


def number(body: str | bytes) -> int:
    """Return the number of an event that `body` has built."""
    return int(json.loads(body)["data"]["location"])
