"""What a text says to those who read it. Pure."""

import re
import unicodedata

# Control characters, and those for format: zero-width spaces, joiners, bidirectional controls.
INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
# Letters, marks and symbols that draw nothing: fillers, a blank Braille cell, variation selectors.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for code in range(0xFE00, 0xFE10)
}

# They turn the order of what follows around, so that an address reads as another.
BIDIRECTIONAL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# Zero-width space, word joiner, byte-order mark and soft hyphen; joiners of scripts and emoji.
SEPARATORS = re.compile("[\u00ad\u200b\u2060\ufeff]")
JOINERS = "\u200c\u200d"


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in it (decision N30)."""
    return all(
        one.isspace() or one in BLANK or unicodedata.category(one) in INVISIBLE for one in text
    )


def tidy(text: str) -> str:
    """Bring a short text into one form: NFC, blanks trimmed and joined.

    Control characters, line ends and every kind of space are blanks. Zero-width marks that only
    separate go everywhere; joiners inside stay, since scripts and emoji are written with them.
    """
    text = SEPARATORS.sub("", unicodedata.normalize("NFC", text))
    text = "".join(" " if unicodedata.category(one) == "Cc" else one for one in text)
    return " ".join(text.split()).strip(JOINERS + " ")


def number_spellings(number: str) -> list[str]:
    """Return a tracking number as people write it: with and without blanks, in either case.

    For rows without an index of the number's key.
    """
    plain = tidy(number)
    compact = re.sub(r"[\s\-\u2010-\u2015]", "", plain)
    return [number, plain, plain.upper(), plain.lower(), compact, compact.upper(), compact.lower()]


def show_controls(text: str) -> str:
    """Each bidirectional control as its number, such as [U+202E] (decision N30)."""
    return BIDIRECTIONAL.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
