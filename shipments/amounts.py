"""Amounts of money as people read them."""

from decimal import Decimal


def amount_text(amount: Decimal) -> str:
    """The amount with two decimals, or with more if it has more."""
    short = round(amount, 2)
    return f"{short:f}" if short == amount else f"{amount.normalize():f}"
