"""Amounts of money as people read them: with the decimals of their currency."""

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from core.values.currencies import decimals_of

# Currencies that Mexico writes with a sign as well: $4,850.50 MXN.
WITH_SIGN = {"MXN": gettext_noop("%(amount)s MXN"), "USD": gettext_noop("%(amount)s USD")}


def money_number(amount: Decimal, currency: str) -> str:
    """Return the amount without its currency, as people of the language write it."""
    places = decimals_of(amount, currency)
    return number_format(amount, decimal_pos=places, use_l10n=True, force_grouping=True)


def money_text(amount: Decimal, currency: str) -> str:
    """Return the amount with its currency, such as 5,800 JPY or 12.50 EUR."""
    number = money_number(abs(amount), currency)
    pattern = gettext(WITH_SIGN[currency]) if currency in WITH_SIGN else f"%(amount)s {currency}"
    return f"{'-' if amount < 0 else ''}{pattern % {'amount': number}}"
