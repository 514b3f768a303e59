"""Display of values that companies sent: variables and documents."""

import json
from typing import Any, NamedTuple

from django.utils.translation import ngettext

from webhooks import targets

MOST_ROWS = 300
FEW_ROWS = 12
DEEPEST = 6


class VariableRow(NamedTuple):
    """A key and its value; for an object or a list the text is its number of entries."""

    depth: int
    key: str
    text: str
    holds: bool


class Variables(NamedTuple):
    """Rows of a ticket's variables in the company's order; `raw` if they cannot be split."""

    rows: list[VariableRow]
    raw: str = ""

    @property
    def big(self) -> bool:
        return len(self.rows) > FEW_ROWS or len(self.raw) > 400


class ExactNumber(str):
    """A number with exactly the digits that the company wrote."""


class TooMany(Exception):
    """Raised for more than MOST_ROWS rows."""


def variables(text: str | None) -> Variables:
    """Split a text into rows; it stays raw if it is not an object or list, or has too many keys."""
    if not text:
        return Variables([])
    rows: list[VariableRow] = []
    try:
        value = json.loads(text, parse_int=ExactNumber, parse_float=ExactNumber)
        if not isinstance(value, dict | list):
            return Variables([], text)
        append_rows(value, 0, rows)
    except (ValueError, RecursionError, TooMany):
        return Variables([], text)
    return Variables(rows)


def append_rows(container: dict[str, Any] | list[Any], depth: int, rows: list[VariableRow]) -> None:
    """Append the rows of an object or a list. Raises TooMany."""
    pairs = container.items() if isinstance(container, dict) else enumerate(container, start=1)
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
    """Check if a text links to a public address: no link may lead agents into our network."""
    try:
        targets.check_target(text, targets.Policy())
    except targets.BadTarget:
        return False
    return True
