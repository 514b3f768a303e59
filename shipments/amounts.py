"""Amounts of money as people read them."""

from decimal import Decimal


def amount_text(amount: Decimal) -> str:
    """With two decimals, and with more only where those say something."""
    short = round(amount, 2)
    return f"{short:f}" if short == amount else f"{amount.normalize():f}"
