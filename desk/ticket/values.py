"""What companies hand in, made fit to be shown: variables and documents' values."""

import json
from typing import Any, NamedTuple

from django.utils.translation import ngettext

from webhooks import targets

MOST_ROWS = 300
FEW_ROWS = 12
DEEPEST = 6


class VariableRow(NamedTuple):
    """A key and its value; a value that holds others is told by how many."""

    depth: int
    key: str
    text: str
    holds: bool


class Variables(NamedTuple):
    """The rows of a ticket's variables, in the company's order; `raw` where there are none."""

    rows: list[VariableRow]
    raw: str = ""

    @property
    def big(self) -> bool:
        return len(self.rows) > FEW_ROWS or len(self.raw) > 400


class ExactNumber(str):
    """With the digits that the company wrote."""


class TooMany(Exception):
    """More rows than anybody reads."""


def variables(text: str | None) -> Variables:
    """Any text at all: what is no object, or has too many keys, is shown as it came."""
    if not text:
        return Variables([])
    rows: list[VariableRow] = []
    try:
        found = json.loads(text, parse_int=ExactNumber, parse_float=ExactNumber)
        if not isinstance(found, dict | list):
            return Variables([], text)
        append_rows(found, 0, rows)
    except (ValueError, RecursionError, TooMany):
        return Variables([], text)
    return Variables(rows)


def append_rows(found: dict[str, Any] | list[Any], depth: int, rows: list[VariableRow]) -> None:
    """Append the rows of an object or a list. Raises TooMany."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found, start=1)
    for key, value in pairs:
        if len(rows) >= MOST_ROWS:
            raise TooMany
        if isinstance(value, dict | list) and value and depth < DEEPEST:
            rows.append(VariableRow(depth, str(key), size_text(value), True))
            append_rows(value, depth + 1, rows)
        else:
            rows.append(VariableRow(depth, str(key), as_text(value), False))


def size_text(value: dict[str, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        text = ngettext("%(count)d key", "%(count)d keys", len(value))
    else:
        text = ngettext("%(count)d item", "%(count)d items", len(value))
    return text % {"count": len(value)}


def as_text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def leads_to_the_public_web(text: str) -> bool:
    """A stranger's link into our own network, or to no web at all, is shown as text."""
    try:
        targets.check_target(text, targets.Policy())
    except targets.BadTarget:
        return False
    return True
