"""Amounts of money as people read them: with the decimals of their currency."""

from decimal import Decimal

from django.utils.formats import number_format

from core.values.currencies import decimals_of


def money_number(amount: Decimal, currency: str) -> str:
    """Return the amount without its currency, as people of the language write it."""
    places = decimals_of(amount, currency)
    return number_format(amount, decimal_pos=places, use_l10n=True, force_grouping=True)


def money_text(amount: Decimal, currency: str) -> str:
    """Return the amount with its currency, such as 5,800 JPY or 12.50 EUR."""
    return f"{money_number(amount, currency)} {currency}"
