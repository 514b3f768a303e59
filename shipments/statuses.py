"""The statuses of a shipment (decision W18). Pure.

The feed may bring a status that the table lacks; it is kept as it came.
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

# A shipment has left its sender with either.
LEAVING = frozenset({SHIPPED, PICKED_UP})

_BY_LOWER = {name.lower(): name for name in NAMES}


def canonical(text: str) -> str:
    """The table's spelling of a status, or the text as it came."""
    return _BY_LOWER.get(text.lower(), text)


def is_same_status(one: str, other: str) -> bool:
    """Upper and lower case make no difference: nobody needs to hear of it."""
    return one.lower() == other.lower()


def lower(status: str) -> str:
    """As event types 3 and 4 say it."""
    return status.lower()


def title(status: str) -> str:
    """As event types 1 and 2 say it: the table's spelling, else every word capitalized."""
    known = _BY_LOWER.get(status.lower())
    # str.title would write "Driver'S".
    return known or " ".join(word.capitalize() for word in status.split(" "))
