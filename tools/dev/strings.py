"""List of every text that users read, with its place: `python -m tools.dev.strings [FOLDER ...]`.

It has the texts of templates, and the sentences in code (messages, labels, help, errors, log
lines), but no docstrings and comments.
"""

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "core",
    "companies",
    "config",
    "deliveries",
    "desk",
    "tools/dev",
    "shipments",
    "templates",
    "tickets",
    "webhooks",
)
ATTRIBUTES = {"title", "placeholder", "aria-label", "alt", "data-confirm"}
TAG = re.compile(r"{%.*?%}|{#.*?#}", re.DOTALL)
SPOKEN = re.compile(r"[A-Za-z]{2,}")
# Strings that are SQL, addresses, markup or names in code are not text.
SQL = re.compile(r"\b(SELECT|UPDATE|DELETE FROM|INSERT|WHERE)\b")
CODE = re.compile(r"<|[\w.:/{}%#<>=*\[\]()\\$^+?-]*$")
LABELS = {"description", "label", "help_text", "verbose_name", "title", "verbose_name_plural"}


def main(arguments: list[str]) -> int:
    for place, text in sorted(texts(arguments or list(FOLDERS))):
        print(f"{place}: {text}")
    return 0


def texts(folders: list[str]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix == ".html":
                yield from ((f"{name}:{line}", text) for line, text in in_template(path))
            elif path.suffix == ".py" and "migrations" not in path.relative_to(ROOT).parts:
                yield from ((f"{name}:{line}", text) for line, text in in_code(path))


class Words(HTMLParser):
    """Parser for text nodes of a template, and attributes that users read."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self.inside: str = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        for name, value in attrs:
            if name in ATTRIBUTES and value and SPOKEN.search(value):
                self.add(value)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style") and SPOKEN.search(data):
            self.add(data)

    def add(self, text: str) -> None:
        if not re.fullmatch(r"\s*({{[^}]*}}\s*)*", text):
            self.texts.append((self.getpos()[0], " ".join(text.split())))


def in_template(path: Path) -> list[tuple[int, str]]:
    words = Words()
    # Keep line breaks, so that line numbers are right.
    words.feed(TAG.sub(lambda tag: "\n" * tag[0].count("\n"), path.read_text()))
    return words.texts


def in_code(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text())
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    silent |= {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    labels = {
        id(keyword.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in LABELS
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        text = literal(node)
        if text is None or id(node) in silent or not SPOKEN.search(text):
            continue
        if id(node) in labels or (
            " " in text.strip() and not SQL.search(text) and not CODE.match(text)
        ):
            yield node.lineno, " ".join(text.split())


def literal(node: ast.Constant | ast.JoinedStr) -> str | None:
    """Return a string as in the code, with the expressions of its placeholders."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    return "".join(
        f"{{{ast.unparse(part.value)}}}"
        if isinstance(part, ast.FormattedValue)
        else str(getattr(part, "value", ""))
        for part in node.values
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
