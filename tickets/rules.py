"""Requirements of a ticket type on a new ticket, and of a document's type on its value.

No database access. The decisions are T13 to T16.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple
from urllib.parse import urlsplit

from core.values.texts import gettext_noop

# Field of a ticket by the reference of its type.
FIELDS = {
    "guide": "shipment_id",
    "credit": "credit_id",
    "warehouse-package": "warehouse_package_id",
    "legal-credit": "documents",
}
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
NEVER_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")


def missing_field(reference: str, required: bool, fields: Mapping[str, object]) -> str | None:
    """Return the field that a type of this reference requires and `fields` lacks, or None."""
    field = FIELDS.get(reference)
    return field if field and required and not fields.get(field) else None


class WrongValue(NamedTuple):
    """Error about a value: its message, and its code for programs."""

    message: str
    code: str


NO_DATE = WrongValue(gettext_noop("Send a date as YYYY-MM-DD."), code="invalid_date")
NO_URL = WrongValue(gettext_noop("Send an http or https URL."), code="invalid_url")


def wrong_value(type: str | None, value: str | None) -> WrongValue | None:
    """Return the error in the value of a document of this type, or None (decision T16)."""
    if value is None:
        return None
    if type == "date" and not is_date(value):
        return NO_DATE
    if type == "file" and not is_web_address(value):
        return NO_URL
    return None


def is_date(text: str) -> bool:
    if not DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_web_address(text: str) -> bool:
    """Return whether this may be shown as a link; it is never fetched."""
    if NEVER_IN_A_URL.search(text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
