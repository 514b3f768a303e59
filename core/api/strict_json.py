"""Strict JSON: rejects input that other parsers read differently (decision E8)."""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

# Causes by the message of Python's parser.
CAUSES = {
    "Expecting value": "a value should stand",
    "Expecting ',' delimiter": "a comma or a closing bracket should stand",
    "Expecting ':' delimiter": "a colon should stand",
    "Expecting property name enclosed in double quotes": "a name in double quotes should stand",
    "Illegal trailing comma before end of object": "a comma has nothing behind it",
    "Illegal trailing comma before end of array": "a comma has nothing behind it",
    "Extra data": "there is more behind the end of the value",
    "Invalid control character at": "a control character in a text has to be escaped",
    "Unterminated string starting at": "a text has no closing quotation mark: it begins",
    "Invalid \\escape": "there is an escape that JSON does not have",
    "Invalid \\escape: ": "there is an escape that JSON does not have",
    "Invalid \\uXXXX escape": "\\u has to be followed by four hexadecimal digits",
}
MISSING = frozenset(name for name in CAUSES if name.startswith("Expecting"))
# Characters from programs and word processors that are not valid in JSON.
SIGNS = {
    "\ufeff": "a byte order mark (U+FEFF)",
    "\u00a0": "a no-break space (U+00A0)",
    "\u200b": "a zero-width space (U+200B)",
    "\u2028": "a line separator (U+2028)",
    "\u201c": "a typographic quotation mark (U+201C) instead of a straight one",
    "\u201d": "a typographic quotation mark (U+201D) instead of a straight one",
    "'": "a single quotation mark instead of a double one",
}


class BadJSON(ValueError):
    """The text is not JSON that this service accepts; the message says why."""


def load_json(text: str, *, deepest: int, most_values: float = math.inf) -> Any:
    """Parse JSON. Raises BadJSON.

    Rejects, besides bad syntax, what databases and other parsers cannot handle: repeated keys, NaN
    and infinities, NUL and lone surrogates in any text or key, more than `deepest` levels; and more
    than `most_values` members of objects and lists, none of which is read then.
    """
    if text.startswith("\ufeff"):
        raise BadJSON("it begins with a byte order mark, at line 1 column 1; send it without one")
    if has_more_values(text, most_values):
        raise BadJSON(f"it has more than {most_values} values")
    try:
        value = DECODER.decode(text)
    except RecursionError as error:
        raise BadJSON(f"it is nested deeper than {deepest} levels") from error
    except json.JSONDecodeError as error:
        if not text.strip():
            raise BadJSON("it is empty") from error
        place = f"line {error.lineno} column {error.colno}"
        raise BadJSON(f"{cause_of(error)} at {place}") from error
    except BadJSON:
        raise
    except ValueError as error:  # Python refuses to read integers of thousands of digits.
        raise BadJSON("a number is too long") from error
    # NUL and surrogates need an escape, and each level a bracket: without either, skip the check.
    if "\\u" in text or text.count("{") + text.count("[") > deepest:
        check_tree(value, deepest)
    return value


def cause_of(error: json.JSONDecodeError) -> str:
    """Name the cause of a syntax error in our own words instead of Python's."""
    sign = error.doc[error.pos : error.pos + 1]
    if sign in SIGNS:
        return f"there is {SIGNS[sign]}"
    if error.pos >= len(error.doc) and error.msg in MISSING:
        return f"it ends where {CAUSES[error.msg]}"
    return CAUSES.get(error.msg, "it cannot be read")


def has_more_values(text: str, most: float) -> bool:
    """Return whether at least `most` commas stand outside of strings: each separates two values.

    Runs in steps of Python code, between which other threads get their turn; the parser holds the
    GIL until it is done.
    """
    if text.count(",") < most:
        return False
    commas = at = 0
    for inside in TEXTS.finditer(text):
        commas += text.count(",", at, inside.start())
        at = inside.end()
        if commas >= most:
            return True
    return commas + text.count(",", at) >= most


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        raise BadJSON(f"the key {excerpt(twice)} appears twice")
    return members


def refuse_constant(name: str) -> NoReturn:
    raise BadJSON(f"{name} is not a JSON number")


def finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadJSON(f"the number {text[:20]} is too large")
    return number


def check_tree(value: Any, deepest: int) -> None:
    """Raise BadJSON for NUL, for a lone surrogate, and for more than `deepest` levels."""
    level = [value]
    for _ in range(deepest + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, str):
                check_text(item)
            elif isinstance(item, dict):
                for key in item:
                    check_text(key)
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = inner
        if not level:
            return
    raise BadJSON(f"it is nested deeper than {deepest} levels")


def check_text(text: str) -> None:
    if "\x00" in text:
        raise BadJSON(f"{excerpt(text)} contains a NUL character")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise BadJSON(f"{excerpt(text)} contains half of a surrogate pair")


def excerpt(text: str) -> str:
    return ascii(text[:40])


# Possessive, so it never backtracks. An unterminated string extends to the end of the text.
TEXTS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)

# json.loads would create a new decoder for each call with hooks.
DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys, parse_constant=refuse_constant, parse_float=finite
)
