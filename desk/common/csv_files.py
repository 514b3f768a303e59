"""Tables as CSV files that do nothing when a spreadsheet opens them."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone

# A spreadsheet computes a cell that begins with one of these signs. Where it is told another
# separator than the comma, cells begin behind that one too, in the middle of a text.
FORMULA = re.compile(r"(^|[;,|\t\r\n])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])")
# It drops leading zeros, and digits behind the fifteenth, and reads 12E5 as 1,200,000.
CHANGED_NUMBER = re.compile(r"0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+")
MOST_DIGITS = 10**15
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


def refuse_file(reasons: Iterable[str]) -> HttpResponse:
    """Answer 400 in place of a file, with a reason a line."""
    plain = "text/plain; charset=utf-8"
    return HttpResponse("\n".join(reasons), status=400, content_type=plain)


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer: Any = csv.writer(Echo())
    yield BYTE_ORDER_MARK + writer.writerow(columns)
    for row in rows:
        yield writer.writerow([csv_cell(value) for value in row])


def csv_cell(value: object) -> object:
    """Return what stays as it is in a spreadsheet, whatever its separator.

    Numbers stay numbers. An apostrophe stands before what would be computed, and before a text that
    would be read as another number.
    """
    if value is None:
        return ""
    number = Decimal(value) if isinstance(value, int | float | Decimal) else None
    if number is not None and abs(number) < MOST_DIGITS:
        return value
    if isinstance(value, datetime):
        return timezone.localtime(value).isoformat(timespec="seconds")
    text = str(value)
    if CHANGED_NUMBER.fullmatch(text.strip()):
        return f"'{text}"
    return FORMULA.sub(r"\1'", text)
