"""Readers of the feed's fields: they convert a decoded JSON value, or raise ValueError.

Pure: no database and no framework.
"""

import math
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from core.values.currencies import CURRENCIES
from core.values.ids import LARGEST_ID
from core.values.texts import is_blank, tidy
from core.values.times import EARLIEST, is_plausible, read_time
from shipments import statuses

AMOUNT_DECIMALS = 4
MOST_NOISE = Decimal("1e-9")
LARGEST_AMOUNT = Decimal(10) ** 10
TRANSACTIONS = ("surcharge", "refund")
ORDER_FIELDS = ("shop_id", "order_identifier", "order_number", "order_name")
LONGEST_ORDER_FIELD = 255

_DATE_AND_TIME = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt ][0-9]{2}")

Order = dict[str, str | int | None]


def identifier(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= LARGEST_ID:
        raise ValueError("send an integer from 1 to 2^63-1")
    return value


def text_field(longest: int, *, blank: bool = False) -> Callable[[Any], str]:
    """Make a reader of a short text, which it tidies: "Delivered " is the status "Delivered"."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("send a string")
        text = tidy(value)
        if len(text) > longest:
            raise ValueError(f"longer than {longest} characters")
        if not blank and is_blank(text):
            raise ValueError("is blank")
        return text

    return read


def status(value: Any) -> str:
    return statuses.canonical(text_field(100)(value))


def instant_field(value: Any) -> datetime:
    """Read a date with a time in ISO 8601, in UTC unless it has an offset.

    A date alone is refused: it would place a scan at midnight, before the others of its day.
    """
    try:
        text = text_field(40)(value)
        if not _DATE_AND_TIME.match(text):
            raise ValueError
        time = read_time(text)
    except ValueError:
        raise ValueError("send an ISO 8601 time such as 2026-01-02T15:04:05Z") from None
    if not is_plausible(time):
        raise ValueError(f"send a time from {EARLIEST:%Y-%m-%d} to a day from now")
    return time


def amount(value: Any) -> Decimal:
    """Read a positive amount; transaction_type gives its sign (interface, Surcharge event)."""
    if type(value) not in (int, float):
        raise ValueError("send a number")
    # str returns the digits that the platform wrote, such as 10.1; Decimal(value) would not.
    number = Decimal(str(value))
    if not 0 < number < LARGEST_AMOUNT:
        raise ValueError("send a number above 0 and below 10^10")
    rounded = round(number, AMOUNT_DECIMALS)
    # A platform that computes with doubles writes 12.499999999999998 for 12.5.
    noise = max(MOST_NOISE, 2 * Decimal(math.ulp(value)) if type(value) is float else 0)
    if abs(number - rounded) > noise:
        raise ValueError(f"more than {AMOUNT_DECIMALS} decimals")
    if not 0 < rounded < LARGEST_AMOUNT:
        raise ValueError("send a number above 0 and below 10^10")
    return number if number == rounded else rounded


def currency(value: Any) -> str:
    if not isinstance(value, str) or (code := tidy(value)) not in CURRENCIES:
        raise ValueError("send an ISO 4217 code such as MXN")
    return code


def transaction(value: Any) -> str:
    if not isinstance(value, str) or value not in TRANSACTIONS:
        raise ValueError(f"send one of {', '.join(TRANSACTIONS)}")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("send true or false")
    return value


def order(value: Any) -> Order:
    if not isinstance(value, dict) or set(value) != set(ORDER_FIELDS):
        raise ValueError(f"send an object of {', '.join(ORDER_FIELDS)}, all of them and no other")
    for name, part in value.items():
        whole = type(part) is int and -LARGEST_ID <= part <= LARGEST_ID
        short = isinstance(part, str) and len(part) <= LONGEST_ORDER_FIELD
        if not (part is None or whole or short):
            raise ValueError(
                f"{name}: send a string of at most {LONGEST_ORDER_FIELD} characters, "
                "an integer or null"
            )
    parts = ((name, value[name]) for name in ORDER_FIELDS)
    return {name: tidy(part) if isinstance(part, str) else part for name, part in parts}
