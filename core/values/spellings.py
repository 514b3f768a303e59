"""Spellings of numbers and words that mean the same to people who search."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import F, Func, Q, QuerySet, Value

from core.values.ids import read_id

# Digits of scripts in which companies write numbers; search_words() leaves them as they are.
FULL_WIDTH = "".join(map(chr, range(0xFF10, 0xFF1A)))
SCRIPTS = (
    "".join(map(chr, range(0x0660, 0x066A))),  # Arabic
    "".join(map(chr, range(0x06F0, 0x06FA))),  # Persian and Urdu
    "".join(map(chr, range(0x0966, 0x0970))),  # Devanagari
    "".join(map(chr, range(0x09E6, 0x09F0))),  # Bengali
    "".join(map(chr, range(0x0E50, 0x0E5A))),  # Thai
)
DIGITS = "0123456789"
SIGMA, FINAL_SIGMA = "\u03c3", "\u03c2"
# PLAIN_FROM and PLAIN_TO are also the arguments of PostgreSQL's translate().
PLAIN_FROM = "".join(SCRIPTS) + FINAL_SIGMA
PLAIN_TO = DIGITS * len(SCRIPTS) + SIGMA
PLAIN = str.maketrans(PLAIN_FROM, PLAIN_TO)

# A word with a hyphen before it.
EXCLUDED = re.compile(r"(^|\s)-")

Rows = TypeVar("Rows", bound="QuerySet[Any]")


class SearchKey(Func):
    """A text without case, accents, blanks and punctuation."""

    function = "search_key"
    output_field = models.TextField()

    @classmethod
    def of(cls, text: str) -> Self:
        return cls(Value(text, models.TextField()))


def with_numbers(rows: Rows, numbers: Sequence[str]) -> Rows:
    """Keep the rows with these tracking numbers, however they are spelled.

    `1z999aa10123456784` finds `1Z 999 AA1 01 2345 6784`. Needs an index of search_key() of
    `tracking_number`, and one of `tracking_number` itself for numbers of signs alone, whose key is
    empty. PostgreSQL takes no NUL, and the number of an anonymised row is empty.
    """
    wanted = [number for number in numbers if number and "\x00" not in number]
    spelled = dict.fromkeys([*wanted, *map(plain_digits, wanted)])
    alike = Q(number_key__in=[SearchKey.of(number) for number in spelled]) & ~Q(number_key="")
    if signs := [number for number in wanted if not any(map(str.isalnum, number))]:
        alike |= Q(number_key="", tracking_number__in=signs)
    matching: Rows = rows.alias(number_key=SearchKey(F("tracking_number"))).filter(alike)
    return matching


def same_text(field: str, text: str) -> Q:
    """Match a field that has this text in any case, whatever form its marks and digits have."""
    forms = {text, plain_digits(text)}
    forms |= {unicodedata.normalize(form, one) for one in tuple(forms) for form in ("NFC", "NFD")}
    same = Q()
    for form in sorted(forms):
        same |= Q((f"{field}__iexact", form))
    return same


def typed_id(text: str) -> int | None:
    """Read an id that a person typed, in the digits of any script."""
    return read_id(plain_digits(text).strip())


def plain_digits(text: str) -> str:
    """Write digits of any script, and letters of any width, as those of ASCII."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(one)) if unicodedata.category(one) == "Nd" else one
        for one in unicodedata.normalize("NFKC", text)
    )


def plain_word(word: str) -> str:
    """Return a word of search_words() with ASCII digits and without a final sigma."""
    return word if word.isascii() else word.translate(PLAIN)


def word_spellings(word: str) -> list[str]:
    """Return a word of search_words() as texts may have it, the word itself first."""
    plain = plain_word(word)
    forms = [word, plain]
    if any(one in DIGITS for one in plain):
        forms += [plain.translate(str.maketrans(DIGITS, script)) for script in SCRIPTS]
    if plain.endswith(SIGMA):
        forms.append(plain[:-1] + FINAL_SIGMA)
    return list(dict.fromkeys(forms))


def text_spellings(text: str) -> list[str]:
    """Return words as somebody typed them, and in the spellings that unfolded texts may have."""
    digits = any(one in DIGITS for one in text)
    # A word that a text must not have has no other spellings.
    if EXCLUDED.search(text) or (text.isascii() and not digits):
        return [text]
    plain = plain_digits(text)
    lower = text.lower()
    forms = [
        text,
        *(unicodedata.normalize(form, text) for form in ("NFC", "NFD")),
        plain,
        lower,
        lower.replace(FINAL_SIGMA, SIGMA),
        *(plain.translate(str.maketrans(DIGITS, script)) for script in (FULL_WIDTH, *SCRIPTS[:2])),
    ]
    return list(dict.fromkeys(forms))
