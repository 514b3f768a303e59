"""Amounts of a claim in one currency (decision N19). No database access."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from core.values.currencies import CURRENCIES, plain_number

MOST = Decimal(10) ** 10
PLACES = 3
FIELDS = ("claimed", "offered", "paid")


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts claimed, offered and paid. There is no currency if there is no amount."""

    claimed: Decimal | None = None
    offered: Decimal | None = None
    paid: Decimal | None = None
    currency: str = ""

    def __iter__(self) -> Iterator[tuple[str, Decimal | None]]:
        return ((name, getattr(self, name)) for name in FIELDS)

    @property
    def accepted(self) -> Decimal:
        """Amount that an acceptance grants: the offer, else the claim, but at least what was paid.

        A partial acceptance is one whose offer is smaller than the claim.
        """
        offer = self.claimed if self.offered is None else self.offered
        return max(offer or Decimal(0), self.paid or Decimal(0))


def wrong_amounts(amounts: Amounts) -> tuple[str, str] | None:
    """Return the first invalid field and its error code, or None if all are valid."""
    for name, amount in amounts:
        if amount is None:
            continue
        if not amount.is_finite() or not 0 <= amount <= MOST:
            return name, "out_of_range"
        if amount != round(amount, PLACES):
            return name, "too_precise"
    has_amount = any(amount is not None for _, amount in amounts)
    if has_amount and amounts.currency not in CURRENCIES:
        return "currency", "unknown_currency" if amounts.currency else "missing_currency"
    return None


def differences(before: Amounts, after: Amounts) -> dict[str, list[str | None]]:
    """Return the changed names with their old and new values as texts, for history."""
    old, new = amounts_as_texts(before), amounts_as_texts(after)
    return {name: [old[name], new[name]] for name in old if old[name] != new[name]}


def amounts_as_texts(amounts: Amounts) -> dict[str, str | None]:
    numbers = {name: None if value is None else plain_number(value) for name, value in amounts}
    return {**numbers, "currency": amounts.currency or None}
