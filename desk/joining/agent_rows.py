"""Rows of a file or form of agents, read but not validated."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from django.utils.translation import gettext

from core.values.texts import tidy

MOST_BYTES = 256 * 1024
MOST_ROWS = 500
# Names in the header.
COLUMNS = (
    "login",
    "first name",
    "last name",
    "e-mail",
    "group",
    "zone",
    "language",
    "types",
    "capacity",
)
REQUIRED = ("login", "e-mail")
SYNONYMS = {
    "email": "e-mail",
    "correo": "e-mail",
    "usuario": "login",
    "nombre": "first name",
    "apellido": "last name",
    "apellidos": "last name",
    "grupo": "group",
    "zona": "zone",
    "zona horaria": "zone",
    "time zone": "zone",
    "idioma": "language",
    "tipos": "types",
    "capacidad": "capacity",
    "estado": "state",
}


class AgentRow(NamedTuple):
    """Raw values by column, and the line in the file."""

    line: int
    values: dict[str, str]


class RowProblem(NamedTuple):
    """Problem of a line and column; line 0 means the whole file."""

    line: int
    column: str
    message: str

    def __str__(self) -> str:
        words = {"line": self.line, "column": self.column, "message": self.message}
        if not self.line:
            return self.message
        if not self.column:
            return gettext("Line %(line)d: %(message)s") % words
        return gettext("Line %(line)d, %(column)s: %(message)s") % words


class BadFile(ValueError):
    """File that cannot be read as a table of agents; the message says why."""


def file_text(content: bytes) -> str:
    """Decode an uploaded file. Raises BadFile."""
    if len(content) > MOST_BYTES:
        text = gettext("The file is larger than %(most)d KiB.")
        raise BadFile(text % {"most": MOST_BYTES // 1024})
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(gettext("The file is not UTF-8. Save it as “CSV UTF-8”.")) from error


def read_rows(text: str, allowed: Sequence[str] = COLUMNS) -> list[AgentRow]:
    """Read a CSV file with a header, separated by commas or semicolons. Raises BadFile.

    Columns of `allowed` that the file leaves out are empty.
    """
    if "\x00" in text:
        raise BadFile(gettext("The file is no CSV file."))
    # Lines end with CR or LF alone; U+2028 and similar characters belong to a cell.
    lines = [*StringIO(text.removeprefix("\ufeff"), newline=None)]
    first = next((line for line in lines if line.strip()), "")
    reader = csv.reader(lines, delimiter=";" if first.count(";") > first.count(",") else ",")
    try:
        rows = list(numbered_rows(reader))
    except csv.Error as error:
        raise BadFile(gettext("The file is no CSV file.")) from error
    if not rows:
        raise BadFile(gettext("The file is empty."))
    columns = read_header(rows[0][1], allowed)
    if len(rows) == 1:
        raise BadFile(gettext("There is no agent below the header."))
    if len(rows) - 1 > MOST_ROWS:
        text = gettext("The file has %(count)d agents. Add at most %(most)d at a time.")
        raise BadFile(text % {"count": len(rows) - 1, "most": MOST_ROWS})
    return [
        AgentRow(line, dict.fromkeys(allowed, "") | cells_by_column(columns, line, cells))
        for line, cells in rows[1:]
    ]


def numbered_rows(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield non-empty rows with the line on which each ends."""
    for cells in reader:
        if any(map(tidy, cells)):
            yield getattr(reader, "line_num", 0), [tidy(cell) for cell in cells]


def cells_by_column(columns: list[str], line: int, cells: list[str]) -> dict[str, str]:
    if any(cells[len(columns) :]):
        text = gettext("Line %(line)d has more columns than the header.")
        raise BadFile(text % {"line": line})
    return dict(zip(columns, cells, strict=False))


def read_header(cells: list[str], allowed: Sequence[str]) -> list[str]:
    columns = []
    for cell in cells:
        name = cell.lower().replace("_", " ")
        columns.append(SYNONYMS.get(name, name))
    words = {"columns": ", ".join(allowed)}
    for name in columns:
        if name not in allowed:
            text = gettext("The header has the unknown column “%(name)s”. Known: %(columns)s.")
            raise BadFile(text % {"name": name, **words})
        if columns.count(name) > 1:
            text = gettext("The header names the column “%(name)s” twice.")
            raise BadFile(text % {"name": name})
    if missing := [name for name in REQUIRED if name not in columns]:
        text = gettext("The header lacks %(missing)s. Known: %(columns)s.")
        raise BadFile(text % {"missing": ", ".join(missing), **words})
    return columns
