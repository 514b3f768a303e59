"""What companies hand in, made fit to be shown: variables and documents' values."""

import json
from typing import Any, NamedTuple

from webhooks import targets

MOST_ROWS = 300
FEW_ROWS = 12
DEEPEST = 6


class Row(NamedTuple):
    """A key and its value; a value that holds others is told by how many."""

    depth: int
    key: str
    text: str
    holds: bool


class Variables(NamedTuple):
    """The rows of a ticket's variables, in the company's order; `raw` where there are none."""

    rows: list[Row]
    raw: str = ""

    @property
    def big(self) -> bool:
        return len(self.rows) > FEW_ROWS or len(self.raw) > 400


class Number(str):
    """With the digits that the company wrote."""


class TooMany(Exception):
    """More rows than anybody reads."""


def variables(text: str | None) -> Variables:
    """Any text at all: what is no object, or has too many keys, is shown as it came."""
    if not text:
        return Variables([])
    rows: list[Row] = []
    try:
        found = json.loads(text, parse_int=Number, parse_float=Number)
        if not isinstance(found, dict | list):
            return Variables([], text)
        unfold(found, 0, rows)
    except (ValueError, RecursionError, TooMany):
        return Variables([], text)
    return Variables(rows)


def unfold(found: dict[str, Any] | list[Any], depth: int, rows: list[Row]) -> None:
    """Append the rows of an object or a list. Raises TooMany."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found, start=1)
    for key, value in pairs:
        if len(rows) >= MOST_ROWS:
            raise TooMany
        if isinstance(value, dict | list) and value and depth < DEEPEST:
            rows.append(Row(depth, str(key), counted(value), True))
            unfold(value, depth + 1, rows)
        else:
            rows.append(Row(depth, str(key), as_text(value), False))


def counted(value: dict[str, Any] | list[Any]) -> str:
    noun = "key" if isinstance(value, dict) else "item"
    return f"{len(value)} {noun}{'' if len(value) == 1 else 's'}"


def as_text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def leads_to_the_public_web(text: str) -> bool:
    """A stranger's link into our own network, or to no web at all, is shown as text."""
    try:
        targets.check(text, targets.Policy())
    except targets.BadTarget:
        return False
    return True
