"""CSV files that are safe to open in a spreadsheet: no formulas, no altered numbers."""

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

# A spreadsheet computes a cell that begins with one of these signs. If the user sets another
# separator than the comma, a cell also begins after that one, in the middle of a text.
FORMULA = re.compile(r"(^|[;,|\t\r\n])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])")
# A spreadsheet drops leading zeros and digits after the fifteenth, and reads 12E5 as 1,200,000.
CHANGED_NUMBER = re.compile(r"0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+")
MOST_DIGITS = 10**15
LINES_AT_ONCE = 100
# Spreadsheets recognize UTF-8 by it.
BYTE_ORDER_MARK = "\ufeff"


class Echo:
    """File-like object for csv.writer that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line


def download(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> StreamingHttpResponse:
    """Stream a file `name`.csv, in the reader's language and time zone."""
    return StreamingHttpResponse(
        in_portions(csv_lines(columns, rows), get_language(), active_zone()),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def in_portions(lines: Iterator[str], language: str | None, zone: ZoneInfo) -> Iterator[str]:
    """Join lines into portions, in the language and zone that the middleware has reset by then."""
    while True:
        with translation.override(language), timezone.override(zone):
            portion = "".join(islice(lines, LINES_AT_ONCE))
        if not portion:
            return
        yield portion


def refuse_file(reasons: Iterable[str]) -> HttpResponse:
    """Answer 400 instead of a file, with one reason per line."""
    plain = "text/plain; charset=utf-8"
    return HttpResponse("\n".join(reasons), status=400, content_type=plain)


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer: Any = csv.writer(Echo())
    yield BYTE_ORDER_MARK + writer.writerow(columns)
    for row in rows:
        yield writer.writerow([csv_cell(value) for value in row])


def csv_cell(value: object) -> object:
    """Return a value that a spreadsheet shows unchanged, whatever its separator.

    Numbers stay numbers. An apostrophe protects formulas, and texts that would be read as another
    number.
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
