"""What a claim is about in money: three amounts in one currency (decision N19). No database."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from core.values.currencies import CURRENCIES, plain_number

MOST = Decimal(10) ** 10
PLACES = 3
FIELDS = ("claimed", "offered", "paid")


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a company claims, what it is offered and what was paid. Without any, no currency."""

    claimed: Decimal | None = None
    offered: Decimal | None = None
    paid: Decimal | None = None
    currency: str = ""

    def __iter__(self) -> Iterator[tuple[str, Decimal | None]]:
        return ((name, getattr(self, name)) for name in FIELDS)

    @property
    def accepted(self) -> Decimal:
        """What an acceptance comes to: the offer, else the whole claim; and no less than was paid.

        A partial acceptance is one whose offer is smaller than the claim.
        """
        offer = self.claimed if self.offered is None else self.offered
        return max(offer or Decimal(0), self.paid or Decimal(0))


def wrong_amounts(amounts: Amounts) -> tuple[str, str] | None:
    """The first field that cannot be kept, and the code of why; None where all is well."""
    for name, amount in amounts:
        if amount is None:
            continue
        if not amount.is_finite() or not 0 <= amount <= MOST:
            return name, "out_of_range"
        if amount != round(amount, PLACES):
            return name, "too_precise"
    given = any(amount is not None for _, amount in amounts)
    if given and amounts.currency not in CURRENCIES:
        return "currency", "unknown_currency" if amounts.currency else "missing_currency"
    return None


def differences(before: Amounts, after: Amounts) -> dict[str, list[str | None]]:
    """What changed, for history: each name with its value before and after, as texts."""
    was, now = as_texts(before), as_texts(after)
    return {name: [was[name], now[name]] for name in was if was[name] != now[name]}


def as_texts(amounts: Amounts) -> dict[str, str | None]:
    numbers = {name: None if one is None else plain_number(one) for name, one in amounts}
    return {**numbers, "currency": amounts.currency or None}
