"""`./dev translate`: the sentences of the code in `locale/`, with what translators made of them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polib

from devtools.bootstrap import ROOT
from devtools.trouble import UsageError, say

LOCALE = ROOT / "locale"
APPS = ("companies", "webhooks", "deliveries", "shipments", "tickets", "desk", "config")
# What marks a sentence, and whether a second one for several follows.
MARKS = {"gettext": False, "gettext_lazy": False, "gettext_noop": False, "ngettext": True}


class Sentence(NamedTuple):
    """A text that is translated, in English; `plural` is its form for several, if it has one."""

    one: str
    plural: str = ""


def translate(arguments: list[str]) -> int:
    """Bring the catalogues up to date and compile them; 1 if a translation is missing."""
    if arguments:
        raise UsageError("translate takes no arguments")
    wanted = sentences(ROOT)
    missing = 0
    for path in catalogues():
        catalogue = polib.pofile(str(path), wrapwidth=0)
        update(catalogue, wanted)
        catalogue.save()
        path.with_suffix(".mo").write_bytes(catalogue.to_binary())
        for entry in untranslated(catalogue):
            missing += 1
            say(f"{path.relative_to(ROOT)}: no translation of {entry.msgid!r}")
    return 1 if missing else 0


def catalogues() -> list[Path]:
    """One for each language but English, which is that of the code."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def sentences(root: Path) -> list[Sentence]:
    """All that the code marks, in the order of its files. Raises UsageError."""
    files = (path for app in APPS for path in sorted((root / app).rglob("*.py")))
    found: dict[Sentence, None] = {}
    for path in files:
        try:
            found |= dict.fromkeys(marked(path.read_text()))
        except ValueError as error:
            raise UsageError(f"{path.relative_to(root)}, {error}") from error
    return list(found)


def marked(source: str) -> Iterator[Sentence]:
    """The sentences of one file; a variable is marked where it gets its text.

    Raises ValueError where a sentence is put together at run time.
    """
    if "gettext" not in source:
        return
    nodes = ast.walk(ast.parse(source))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if not isinstance(node.func, ast.Name) or node.func.id not in MARKS:
            continue
        parts = node.args[: 1 + MARKS[node.func.id]]
        if isinstance(parts[0], ast.Name | ast.Attribute | ast.Subscript):
            continue
        texts = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
        if len(texts) != len(parts):
            raise ValueError(f"line {node.lineno}: a sentence is a text, not put together")
        yield Sentence(*texts)


def update(catalogue: polib.POFile, wanted: list[Sentence]) -> None:
    """Give the catalogue these sentences, in their order; it keeps the translations it has."""
    known = {Sentence(entry.msgid, entry.msgid_plural): entry for entry in catalogue}
    catalogue[:] = [known.get(one) or new_entry(one) for one in wanted]


def new_entry(sentence: Sentence) -> polib.POEntry:
    if not sentence.plural:
        return polib.POEntry(msgid=sentence.one)
    several = {"msgid_plural": sentence.plural, "msgstr_plural": {0: "", 1: ""}}
    return polib.POEntry(msgid=sentence.one, **several)


def untranslated(catalogue: polib.POFile) -> list[polib.POEntry]:
    return [entry for entry in catalogue if not entry.translated()]
