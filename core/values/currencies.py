"""Currencies of ISO 4217 in use, and the decimals of their amounts. Pure."""

from decimal import Decimal

TWO_DECIMALS = """
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN
BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD
FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN
MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD
SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD
TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
"""
NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
DECIMALS = {
    **dict.fromkeys(TWO_DECIMALS.split(), 2),
    **dict.fromkeys(NO_DECIMALS.split(), 0),
    **dict.fromkeys(THREE_DECIMALS.split(), 3),
    "CLF": 4,
}
CURRENCIES = frozenset(DECIMALS)


def decimals_of(amount: Decimal, currency: str) -> int:
    """Return the decimals of the currency, or more if the amount has more."""
    return max(DECIMALS.get(currency, 2), -int(Decimal(plain_number(amount)).as_tuple().exponent))


def exact_amount(amount: Decimal, currency: str) -> Decimal:
    """Return the amount with the decimals of its currency, for a table of numbers."""
    return round(amount, decimals_of(amount, currency))


def plain_number(amount: Decimal) -> str:
    """Return the amount without zeros at its end, and never with an exponent."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
