"""Statuses of a shipment (decision W18). Pure.

A status of the feed that is not in the table is stored unchanged.
"""

CREATED = "Created"
SHIPPED = "Shipped"
DELIVERED = "Delivered"
PICKED_UP = "Picked Up"

# In id order, from 1.
NAMES = (
    CREATED,
    SHIPPED,
    DELIVERED,
    "Canceled",
    "Information",
    "N/A",
    "Pending",
    PICKED_UP,
    "Out for Delivery",
    "Lost",
    "Returned",
    "Pickup at Office",
    "Delivered at Origin",
    "Damaged",
    "Redirected",
    "Out for Pickup",
    "1 Delivery Attempt",
    "2 Delivery Attempts",
    "3 Delivery Attempts",
    "Return Problem",
    "Address Error",
    "Undeliverable",
    "Delayed",
    "Rejected",
    "1 Pickup Attempt",
    "Partially Shipped",
    "Partially Delivered",
    "Delivery Attempt",
)

# Either status means that the shipment has left its sender.
LEAVING = frozenset({SHIPPED, PICKED_UP})

_BY_LOWER = {name.lower(): name for name in NAMES}


def canonical(text: str) -> str:
    """Return the table's spelling of a status, or the text itself if it is not in the table."""
    return _BY_LOWER.get(text.lower(), text)


def is_same_status(one: str, other: str) -> bool:
    """Compare two statuses without case."""
    return one.lower() == other.lower()


def lower(status: str) -> str:
    """Return a status as event types 3 and 4 send it."""
    return status.lower()


def title(status: str) -> str:
    """Return a status as types 1 and 2 send it: the table's spelling, or capitalized words."""
    name = _BY_LOWER.get(status.lower())
    # str.title would write "Driver'S".
    return name or " ".join(word.capitalize() for word in status.split(" "))
