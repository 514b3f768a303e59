"""Texts as readers see them: blank, tidy, legible. Pure."""

import re
import unicodedata
from collections.abc import Iterator

# Control characters, and those for format: zero-width spaces, joiners, bidirectional controls.
INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
# Letters, marks and symbols that draw nothing: fillers, a blank Braille cell, variation selectors.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for code in range(0xFE00, 0xFE10)
}

# They reverse the order of what follows, so that an address reads as another.
BIDIRECTIONAL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# Zero-width space, word joiner, byte-order mark and soft hyphen; joiners of scripts and emoji.
SEPARATORS = re.compile("[\u00ad\u200b\u2060\ufeff]")
JOINERS = "\u200c\u200d"
# Hebrew with accents has four marks on a letter; more are a tower over the lines around it.
MOST_MARKS = 4
MARKS = frozenset({"Mn", "Me"})
# Invisible, and may stand between marks or on empty lines.
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
GAP = re.compile(f"[\\s{ZERO_WIDTH}]{{4,}}")
LINE_END = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
MOST_LINE_ENDS = 3


def gettext_noop(text: str) -> str:
    """Mark a text for translators, as Django's does, where no framework may be imported."""
    return text


def is_blank(text: str) -> bool:
    """Return whether the text shows nothing to a reader (decision N30)."""
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


def show_controls(text: str) -> str:
    """Replace each bidirectional control by its number, such as [U+202E] (decision N30)."""
    return BIDIRECTIONAL.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def legible(text: str) -> str:
    """Clip towers of marks, and shorten longer gaps to two empty lines."""
    return GAP.sub(shorter_gap, text if text.isascii() else "".join(clipped(text)))


def clipped(text: str) -> Iterator[str]:
    height = 0
    for one in text:
        if unicodedata.category(one) in MARKS:
            height += 1
        elif one not in ZERO_WIDTH:
            height = 0
        if height <= MOST_MARKS:
            yield one


def shorter_gap(match: re.Match[str]) -> str:
    ends = [one.end() for one in LINE_END.finditer(match[0])]
    if len(ends) <= MOST_LINE_ENDS:
        return match[0]
    return "\n" * MOST_LINE_ENDS + match[0][ends[-1] :]
