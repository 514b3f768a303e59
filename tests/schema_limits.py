"""The table of docs/schema-limits.md: refusals of requests that GET /schema allows."""

import re
from functools import cache
from typing import Any, NamedTuple

from tools.dev.bootstrap import ROOT

PAGE = ROOT / "docs" / "schema-limits.md"
EVERY = "every"


class Limit(NamedTuple):
    """A row. `operations` is empty if it applies to every one."""

    operations: frozenset[str]
    status: int
    codes: frozenset[str]


@cache
def limits() -> list[Limit]:
    rows = re.findall(r"^\| (.+?) \| (\d+) \| (.+?) \| .+ \|$", PAGE.read_text(), re.MULTILINE)
    return [
        Limit(frozenset(words(operations)), int(status), frozenset(words(codes)))
        for operations, status, codes in rows
    ]


def words(cell: str) -> list[str]:
    names = re.findall(r"`(\w+)`", cell)
    assert names or cell.startswith(EVERY), cell
    return names


def codes_of(refusal: dict[str, Any]) -> set[str]:
    """Return the codes of the wrong fields, or of the refusal itself."""
    body = refusal["error"] if refusal.get("meta") == "error" else refusal
    fields = {each["code"] for each in body.get("errors", ())}
    return fields or {body["reason"] if "reason" in body else body["code"]}


def unlisted(operation: str, status: int, refusal: dict[str, Any]) -> set[str]:
    """Return the codes of the refusal that the page does not name."""
    documented = {
        code
        for limit in limits()
        if limit.status == status and (not limit.operations or operation in limit.operations)
        for code in limit.codes
    }
    return codes_of(refusal) - documented
