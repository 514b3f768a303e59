"""Bound on the size of answers (decision N40)."""

import json
from collections.abc import Iterable
from typing import Any

MOST_BYTES = 4 * 1024 * 1024
# Reserved for everything in a response except its rows.
ENVELOPE_BYTES = 64 * 1024
MOST_OF_ROWS = MOST_BYTES - ENVELOPE_BYTES
# JSON escapes a control character of one byte as \u0001.
LONGEST_ESCAPE = 6


def json_size(value: Any) -> int:
    """Return the size of a value in an answer, in bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode(errors="replace"))


def count_fitting(sizes: Iterable[int], most: int = MOST_OF_ROWS) -> int:
    """Count the leading sizes that add up to at most `most`; the first one always counts."""
    total = number = 0
    for size in sizes:
        total += size
        if total > most and number:
            break
        number += 1
    return number


def fitting_rows(rows: list[dict[str, Any]], most: int = MOST_OF_ROWS) -> list[dict[str, Any]]:
    """Return the leading rows that an answer has room for; at least one."""
    return rows[: count_fitting(map(json_size, rows), most)]
