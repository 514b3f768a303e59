"""Cursors that name a place in the platform's own order: encrypted, and valid for one company.

In clear, two of them would tell a company how many events all companies have.
Why: decision N6.
"""

import hashlib
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NUMBERS = struct.Struct(">qq")
# 16 bytes of the cipher and 16 of the two numbers, in base64.
SEALED_LENGTH = 43
SEALED_PATTERN = f"[0-9A-Za-z_-]{{{SEALED_LENGTH}}}"


class UnreadableCursor(ValueError):
    """The text is not a cursor that this list issued to this company."""


class ReadPlace(NamedTuple):
    """A row's place in a list: its number, and when it was stored."""

    number: int
    time: datetime


def seal_place(place: ReadPlace, kind: str, company_id: int) -> str:
    """Return the cursor of a place; the same place has the same cursor, so that ETags hold."""
    numbers = NUMBERS.pack(place.number, (place.time - EPOCH) // MICROSECOND)
    sealed = ciphers(tuple(settings.FIELD_KEYS))[0].encrypt(numbers, context(kind, company_id))
    return urlsafe_b64encode(sealed).decode().rstrip("=")


def open_place(text: str, kind: str, company_id: int, *, time_first: bool = False) -> ReadPlace:
    """Return the place that a cursor names. Raises UnreadableCursor.

    Also reads the earlier form of two plain numbers, which companies may have stored;
    `time_first` is their order.
    """
    if len(text) == SEALED_LENGTH:
        number, time = open_sealed(text, kind, company_id)
    else:
        first, second = in_clear(text)
        number, time = (second, first) if time_first else (first, second)
    try:
        return ReadPlace(number, EPOCH + time * MICROSECOND)
    except OverflowError as error:
        raise UnreadableCursor from error


def open_sealed(text: str, kind: str, company_id: int) -> tuple[int, int]:
    try:
        sealed = urlsafe_b64decode(f"{text}=")
    except ValueError as error:
        raise UnreadableCursor from error
    for cipher in ciphers(tuple(settings.FIELD_KEYS)):
        try:
            number, time = NUMBERS.unpack(cipher.decrypt(sealed, context(kind, company_id)))
        except (InvalidTag, struct.error):
            continue
        return number, time
    raise UnreadableCursor


def in_clear(text: str) -> tuple[int, int]:
    first, _, second = text.partition("-")
    if not all(each.isascii() and each.isdigit() and len(each) < 19 for each in (first, second)):
        raise UnreadableCursor
    return int(first), int(second)


def context(kind: str, company_id: int) -> list[bytes]:
    """Return the associated data that binds a cursor to a list and a company."""
    return [f"{kind} of company {company_id}".encode()]


@lru_cache(maxsize=4)
def ciphers(keys: tuple[str, ...]) -> tuple[AESSIV, ...]:
    return tuple(AESSIV(hashlib.sha512(f"cursors {key}".encode()).digest()) for key in keys)
