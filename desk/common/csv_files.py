"""Tables as CSV files that do nothing when a spreadsheet opens them."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone

# A spreadsheet takes a text that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
# By it spreadsheets know UTF-8.
BYTE_ORDER_MARK = "\ufeff"


class Echo:
    """What csv writes to: it hands each line back."""

    def write(self, line: str) -> str:
        return line


def download(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse:
    """A file `name`.csv, written row by row."""
    return StreamingHttpResponse(
        csv_lines(columns, rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer: Any = csv.writer(Echo())
    yield BYTE_ORDER_MARK + writer.writerow(columns)
    for row in rows:
        yield writer.writerow([csv_cell(value) for value in row])


def csv_cell(value: object) -> object:
    """Numbers stay numbers; a text that begins like a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return timezone.localtime(value).isoformat(timespec="seconds")
    text = str(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
