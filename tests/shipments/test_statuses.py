import pytest

from shipments import statuses

# Names in id order (decision W18), and their forms in types 3 and 4.
TABLE = {
    1: ("Created", "created"),
    2: ("Shipped", "shipped"),
    3: ("Delivered", "delivered"),
    4: ("Canceled", "canceled"),
    5: ("Information", "information"),
    6: ("N/A", "n/a"),
    7: ("Pending", "pending"),
    8: ("Picked Up", "picked up"),
    9: ("Out for Delivery", "out for delivery"),
    10: ("Lost", "lost"),
    11: ("Returned", "returned"),
    12: ("Pickup at Office", "pickup at office"),
    13: ("Delivered at Origin", "delivered at origin"),
    14: ("Damaged", "damaged"),
    15: ("Redirected", "redirected"),
    16: ("Out for Pickup", "out for pickup"),
    17: ("1 Delivery Attempt", "1 delivery attempt"),
    18: ("2 Delivery Attempts", "2 delivery attempts"),
    19: ("3 Delivery Attempts", "3 delivery attempts"),
    20: ("Return Problem", "return problem"),
    21: ("Address Error", "address error"),
    22: ("Undeliverable", "undeliverable"),
    23: ("Delayed", "delayed"),
    24: ("Rejected", "rejected"),
    25: ("1 Pickup Attempt", "1 pickup attempt"),
    26: ("Partially Shipped", "partially shipped"),
    27: ("Partially Delivered", "partially delivered"),
    28: ("Delivery Attempt", "delivery attempt"),
}


def test_the_table_has_the_28_names_in_id_order() -> None:
    assert dict(enumerate(statuses.NAMES, start=1)) == {
        number: name for number, (name, _) in TABLE.items()
    }


@pytest.mark.parametrize(("name", "lower"), TABLE.values())
def test_says_each_in_lower_case_and_in_the_tables_own(name: str, lower: str) -> None:
    assert statuses.lower(name) == lower
    assert statuses.title(name) == name
    assert statuses.canonical(name.upper()) == name


@pytest.mark.parametrize(
    ("came", "lower", "title"),
    [
        ("in transit", "in transit", "In Transit"),
        ("IN TRANSIT", "in transit", "In Transit"),
        ("driver's break", "driver's break", "Driver's Break"),
        ("en tránsito", "en tránsito", "En Tránsito"),
    ],
)
def test_keeps_a_status_it_does_not_know(came: str, lower: str, title: str) -> None:
    assert statuses.canonical(came) == came
    assert statuses.lower(came) == lower
    assert statuses.title(came) == title
