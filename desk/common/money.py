"""Amounts of money as people of a language write them."""

from decimal import Decimal

from django.utils.formats import number_format

from tickets.money import plain_number


def money_text(amount: Decimal, currency: str) -> str:
    """As people of the language write it, with two decimals or more."""
    places = max(2, -int(Decimal(plain_number(amount)).as_tuple().exponent))
    number = number_format(amount, decimal_pos=places, use_l10n=True, force_grouping=True)
    return f"{number} {currency}"
