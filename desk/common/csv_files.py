"""Tables as CSV files that do nothing when a spreadsheet opens them."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.translation import get_language

from core.values.zones import active_zone

# A spreadsheet computes a cell that begins with one of these signs. Where it is told another
# separator than the comma, cells begin behind that one too, in the middle of a text.
FORMULA = re.compile(r"(^|[;,|\t\r\n])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])")
# It drops leading zeros, and digits behind the fifteenth, and reads 12E5 as 1,200,000.
CHANGED_NUMBER = re.compile(r"0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+")
MOST_DIGITS = 10**15
LINES_AT_ONCE = 100
# By it spreadsheets know UTF-8.
BYTE_ORDER_MARK = "\ufeff"


class Echo:
    """What csv writes to: it hands each line back."""

    def write(self, line: str) -> str:
        return line


def download(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse:
    """A file `name`.csv, written in portions, in the language and zone of whoever asks."""
    return StreamingHttpResponse(
        in_portions(csv_lines(columns, rows), get_language(), active_zone()),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def in_portions(lines: Iterator[str], language: str | None, zone: ZoneInfo) -> Iterator[str]:
    """Join lines, which are made after the middleware has ended the reader's language and zone."""
    while True:
        with translation.override(language), timezone.override(zone):
            portion = "".join(islice(lines, LINES_AT_ONCE))
        if not portion:
            return
        yield portion


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
