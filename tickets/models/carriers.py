"""Spellings of carriers' names on tickets."""

from core.data.reading_order import reading_key
from core.data.statements import distinct_values, read_rows
from shipments.carriers import carrier_key

SPELLINGS = distinct_values("tickets_ticket", "carrier_name")


def spellings_of(carrier: str) -> list[str]:
    """Return all spellings of a carrier's name on tickets (case-insensitive)."""
    key = carrier_key(carrier)
    return [name for (name,) in read_rows(SPELLINGS) if carrier_key(name) == key]


def some_carriers(most: int) -> list[str]:
    """Return up to `most` names of carriers on tickets, in alphabetical order."""
    rows = read_rows(f"{SPELLINGS} AND value <> '' LIMIT %s", [most])
    return sorted((name for (name,) in rows), key=reading_key)
