"""Tables as CSV files that do nothing when a spreadsheet opens them."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import StreamingHttpResponse

# With one of these in front, a spreadsheet takes a text for a formula.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


class Echo:
    """What csv writes to, and gets back."""

    def write(self, line: str) -> str:
        return line


def safe(cell: object) -> object:
    """A text that begins like a formula gets an apostrophe; numbers stay numbers."""
    if isinstance(cell, int | float):
        return cell
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(DANGEROUS) else text


def stream(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> StreamingHttpResponse:
    """A file `name`.csv, written row by row."""
    writer = csv.writer(Echo())

    def lines() -> Iterator[str]:
        yield writer.writerow(columns)
        for row in rows:
            yield writer.writerow([safe(cell) for cell in row])

    answer = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer
