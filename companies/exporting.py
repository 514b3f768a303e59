"""Export of a company: all that is kept of it, as one ZIP file of JSON Lines and its files.

Each app registers, in a module `exported`, which rows it has of a company. They are read in short
steps, as for an erasure, so the service keeps working; a row that is written during the export may
be in it or not.
Why: decision page companies-a-company-gets-its-data.
"""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db import connection
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules

from companies import erasing
from companies.models import Company
from companies.services import UnknownCompany
from core.files.storage import FileMissing, read_file

ABOUT = """\
What this support desk keeps of company {company_id}, {name}. Written on {at}.

Each file but those in files/ is JSON Lines: one JSON object in each line, in UTF-8, the oldest
first. Times are in UTC; null means none. Columns whose names end in _id hold the id of a row in
another of these files. Secrets are left out: nobody reads them here.
{internal}
"""
INTERNAL = """\
With what was written among agents, and which of our people did what: not for the company.
"""


class Exported(NamedTuple):
    """The rows of one table, and the file that they are written to.

    `walk` yields keys in batches, as for erasing; `key` is their column. `without` are columns that
    nobody sees, `internal` those that the company does not see. In a `shared` table the column
    `public` says which rows the company may see. `extra` is a JSON object of more columns.
    `contents` yields the stored files of some keys: the name in the archive, and the stored one.
    """

    name: str
    about: str
    table: str
    walk: Callable[[int, Any], Iterator[erasing.Batch]]
    key: str = "id"
    kind: str = "bigint"
    without: Sequence[str] = ()
    internal: Sequence[str] = ()
    shared: bool = False
    order: str = "id"
    extra: str = "'{}'::jsonb"
    contents: Callable[[Sequence[Any], bool], Iterator[tuple[str, str]]] | None = None

    @property
    def statement(self) -> str:
        visible = "(public OR %(internal)s)" if self.shared else "true"
        columns = f"to_jsonb(row) - %(without)s::text[] || {self.extra}"
        chosen = f"{self.key} = ANY(%(keys)s::{self.kind}[]) AND {visible}"
        return f"SELECT {columns} FROM {self.table} AS row WHERE {chosen} ORDER BY {self.order}"  # noqa: S608 - of our own words

    def rows(self, keys: Sequence[Any], *, internal: bool) -> list[dict[str, Any]]:
        without = [*self.without, *(() if internal else self.internal)]
        values: dict[str, Any] = {"keys": list(keys), "without": without, "internal": internal}
        with connection.cursor() as cursor:
            cursor.execute(self.statement, values)
            return [json.loads(row) if isinstance(row, str) else row for (row,) in cursor]


# Tables by the module that registered them.
tables_by_module: dict[str, list[Exported]] = {}


def register_exported(module: str, *tables: Exported) -> None:
    tables_by_module[module] = list(tables)


def all_exported() -> list[Exported]:
    """Return the tables in the order in which they are written: that of the apps."""
    autodiscover_modules("exported", *(f"{room}.exported" for room in erasing.ROOMS))
    return erasing.in_app_order(tables_by_module)


def export_all_of(
    company_id: int,
    target: Path,
    *,
    internal: bool = False,
    show: Callable[[str], None] = lambda text: None,
) -> dict[str, int]:
    """Write the archive, readable by its owner alone; return the number of rows by table.

    `internal` adds what the company may not see. The file gets its name once it is complete. Raises
    UnknownCompany, FileExistsError, OSError, and errors of the file storage.
    """
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        raise UnknownCompany(f"There is no company {company_id}.")
    if target.exists():
        raise FileExistsError(f"{target} is there already.")
    number, unfinished = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(number, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr("README.txt", readme(company, internal=internal))
            counts = write_all(archive, company_id, internal=internal, show=show)
    except BaseException:
        os.unlink(unfinished)
        raise
    os.replace(unfinished, target)
    return counts


def write_all(
    archive: zipfile.ZipFile, company_id: int, *, internal: bool, show: Callable[[str], None]
) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in all_exported():
        counts[each.name] = 0
        with member(archive, f"{each.name}.jsonl") as lines:
            for keys, _ in each.walk(company_id, None):
                for row in each.rows(keys, internal=internal):
                    lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                    counts[each.name] += 1
                show(f"{each.name}: {counts[each.name]}")
        if each.contents:
            counts[f"contents of {each.name}"] = sum(
                write_content(archive, name, stored_as)
                for keys, _ in each.walk(company_id, None)
                for name, stored_as in each.contents(keys, internal)
            )
    return counts


def write_content(archive: zipfile.ZipFile, name: str, stored_as: str) -> bool:
    """Add a stored file to the archive; False if the storage no longer has it."""
    try:
        content = read_file(stored_as)
    except FileMissing:
        return False
    with member(archive, f"files/{name}") as file:
        file.write(content)
    return True


def member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a compressed member of the archive, dated now."""
    info = zipfile.ZipInfo(name, timezone.now().timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return archive.open(info, "w", force_zip64=True)


def readme(company: Company, *, internal: bool) -> str:
    text = ABOUT.format(
        company_id=company.pk,
        name=company.name,
        at=f"{timezone.now():%Y-%m-%d %H:%M} UTC",
        internal=INTERNAL if internal else "",
    )
    return text + "\n".join(f"{each.name}.jsonl: {each.about}" for each in all_exported()) + "\n"
