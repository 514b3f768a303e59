"""Ticket types of a new installation, as decision T14 lists them."""

# id, name, the reference of a ticket of this type, and whether the reference is required.
CATALOGUE = [
    (2, "carrier", "", False),
    (3, "overweight", "guide", True),
    (4, "lost", "guide", True),
    (5, "damaged", "guide", True),
    (6, "wrong_address", "guide", True),
    (7, "refund", "credit", True),
    (8, "delay", "guide", True),
    (9, "payment_pending", "", False),
    (10, "pobox_package", "warehouse-package", False),
    (13, "theft", "guide", True),
    (14, "redirection", "guide", True),
    (19, "credit_line", "legal-credit", True),
    (24, "partial_refund", "credit", True),
    (25, "delivery_attempt", "guide", True),
]
