"""Names of files in the ZIP archives that the service makes. Pure."""

import re
import unicodedata

# Limit of file systems for one name.
MOST_BYTES = 255
LONGEST_ENDING = 10
# Includes characters that reverse a name, or break its line, where it is shown.
FORBIDDEN = re.compile(
    r'[<>:"|?*/\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]'
)
JOINED = frozenset({"Mn", "Me", "Mc"})
ZERO_WIDTH_JOINER = "\u200d"
SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


def archive_name(number: int, name: str) -> str:
    """Make a name that every file system takes, with its ending; the number makes it unique.

    The leading number also separates names that differ only in case, and avoids names that Windows
    reserves for devices.
    """
    safe = FORBIDDEN.sub("_", name).rstrip(". ")
    stem, dot, ending = safe.rpartition(".")
    if not stem or len(ending.encode()) > LONGEST_ENDING:
        stem, dot, ending = safe, "", ""
    head, tail = f"{number}-", f"{dot}{ending}"
    room = MOST_BYTES - len(head) - len(tail.encode())
    return head + cut_between_letters(stem, room) + tail


def cut_between_letters(text: str, most_bytes: int) -> str:
    """Cut a text to a size in UTF-8, never inside a letter, flag or composed emoji."""
    end = len(text.encode()[:most_bytes].decode(errors="ignore"))
    while 0 < end < len(text) and is_joined(text, end):
        end -= 1
    return text[:end]


def is_joined(text: str, at: int) -> bool:
    """Return whether the character belongs to the letter before it."""
    before, after = text[at - 1], text[at]
    if unicodedata.category(after) in JOINED or after in SKIN_TONES:
        return True
    if ZERO_WIDTH_JOINER in (before, after):
        return True
    if after not in FLAG_LETTERS:
        return False
    flags = 0
    while flags < at and text[at - 1 - flags] in FLAG_LETTERS:
        flags += 1
    return flags % 2 == 1
