"""Collections of good and bad input, and how to read them."""

import base64
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class UrlRow(NamedTuple):
    """One row of ssrf-urls.tsv.

    `answers` is what the resolver says: `-` where no lookup matters, `a,b` several records,
    `first|later` successive lookups, `name>address` an alias, NXDOMAIN, TIMEOUT. Where `why` starts
    with [send], the URL may be registered and a delivery must still never connect.
    """

    url: str
    answers: str
    good: bool
    why: str


def ssrf_urls() -> list[UrlRow]:
    """Return the corpus of webhook URLs, half of them attacks."""
    path = Path(__file__).with_name("ssrf-urls.tsv")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    # The URLs are JSON-escaped: they hold line breaks, NUL and a lone surrogate.
    return [
        UrlRow(json.loads(f'"{url}"'), dns, go == "accept", why) for url, dns, go, why in rows[1:]
    ]


class BadInput(NamedTuple):
    """One request of bad-inputs.jsonl.

    In path, headers and body, `{MARKS}` stand for values of the running service; a mark that ends
    in `_INT` replaces its quotes too.
    """

    id: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    expect: tuple[int, ...]
    reason: str
    check: str | None

    def filled(self, marks: Mapping[str, object]) -> "BadInput":
        """Replace the marks by what they stand for here."""

        def fill(text: str) -> str:
            for name, value in marks.items():
                if name.endswith("_INT"):
                    text = text.replace(f'"{{{name}}}"', str(value))
                text = text.replace(f"{{{name}}}", str(value))
            return text

        # Bodies with bytes that are not text contain no marks.
        body = self.body if b"{" not in self.body else fill(self.body.decode("latin-1"))
        return self._replace(
            path=fill(self.path),
            headers={name: fill(value) for name, value in self.headers.items()},
            body=body if isinstance(body, bytes) else body.encode("latin-1"),
        )


def bad_inputs() -> list[BadInput]:
    """Return the corpus of requests that a service must survive, and mostly refuse."""
    path = Path(__file__).with_name("bad-inputs.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        BadInput(
            row["id"],
            row["method"],
            row["path"],
            row["headers"],
            body_of(row),
            tuple(row["expect"]),
            row["reason"],
            row.get("check"),
        )
        for row in rows
    ]


def body_of(row: Mapping[str, Any]) -> bytes:
    if "body_b64" in row:
        return base64.b64decode(row["body_b64"])
    if generator := row.get("body_gen"):
        # Bodies of megabytes, in short form.
        return (generator["pre"] + generator["unit"] * generator["n"] + generator["post"]).encode()
    return (row["body"] or "").encode()
