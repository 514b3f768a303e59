"""`./dev translate`: the sentences of the code in `locale/`, with what translators made of them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import django
import polib
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

from tools.dev.bootstrap import ROOT
from tools.dev.trouble import UsageError, say

LOCALE = ROOT / "locale"
DJANGO_LOCALE = Path(django.__file__).parent / "conf" / "locale"
PLURALS = re.compile(r"nplurals=(\d+)")
APPS = ("core", "companies", "webhooks", "deliveries", "shipments", "tickets", "desk", "config")
TEMPLATES = "templates"
# Names that Django derives, and what other packages say at the desk.
OTHERS = "locale/others.pot"


# What marks a sentence, and what its arguments are. A context tells two meanings of a word apart.
ONE, SEVERAL, IN_CONTEXT = ("one",), ("one", "plural"), ("context", "one")
MARKS = {
    "gettext": ONE,
    # An alias of gettext_lazy, in forms and models.
    "_": ONE,
    "gettext_lazy": ONE,
    "gettext_noop": ONE,
    "ngettext": SEVERAL,
    "ngettext_lazy": SEVERAL,
    "pgettext": IN_CONTEXT,
    "pgettext_lazy": IN_CONTEXT,
}
# How Django writes the tags of a template, and `_("…")` in one, for tools that read Python.
STRING = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"(?<!\w)(_|gettext|ngettext|pgettext)\(({STRING}(?:, {STRING})*)")


class Sentence(NamedTuple):
    """A text that is translated, in English; `plural` is its form for several, if it has one."""

    one: str
    plural: str = ""
    context: str = ""


def translate(arguments: list[str]) -> int:
    """Bring the catalogues up to date and compile them; 1 if a translation is missing.

    Begin one for each language whose code is given. Raises UsageError.
    """
    for code in arguments:
        begin_catalogue(code)
    wanted = sentences(ROOT)
    missing = 0
    for path in catalogues():
        catalogue = polib.pofile(str(path), wrapwidth=0)
        update(catalogue, wanted)
        catalogue.save()
        path.with_suffix(".mo").write_bytes(catalogue.to_binary())
        for entry in untranslated(catalogue):
            missing += 1
            say(f"{path.relative_to(LOCALE.parent)}: no translation of {entry.msgid!r}")
    return 1 if missing else 0


def begin_catalogue(code: str) -> None:
    """Write an empty catalogue with the plural rule of Django's own, unless there is one.

    Raises UsageError for a language that Django does not have.
    """
    path = LOCALE / to_locale(code) / "LC_MESSAGES" / "django.po"
    if path.exists():
        return
    theirs = DJANGO_LOCALE / path.relative_to(LOCALE)
    if not theirs.exists():
        raise UsageError(f"Django has no language {code}: take a code of django/conf/locale")
    begun = polib.POFile(wrapwidth=0)
    begun.metadata = {
        "Language": to_locale(code),
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": polib.pofile(str(theirs)).metadata["Plural-Forms"],
    }
    path.parent.mkdir(parents=True)
    begun.save(str(path))


def catalogues() -> list[Path]:
    """One for each language but English, which is that of the code."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def sentences(root: Path) -> list[Sentence]:
    """All that code, templates and `OTHERS` have, in their order. Raises UsageError."""
    files = [path for app in APPS for path in sorted((root / app).rglob("*.py"))]
    files += sorted((root / TEMPLATES).rglob("*.html"))
    found: dict[Sentence, None] = {}
    for path in files:
        read = marked_in_template if path.suffix == ".html" else marked
        try:
            found |= dict.fromkeys(read(path.read_text()))
        except (ValueError, SyntaxError) as error:
            raise UsageError(f"{path.relative_to(root)}, {error}") from error
    if (root / OTHERS).exists():
        found |= dict.fromkeys(map(sentence_of, polib.pofile(str(root / OTHERS))))
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
        names = MARKS[node.func.id]
        parts = node.args[: len(names)]
        if isinstance(parts[-1], ast.Name | ast.Attribute | ast.Subscript):
            continue
        texts = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
        if len(texts) != len(names):
            raise ValueError(f"line {node.lineno}: a sentence is a text, not put together")
        yield Sentence(**dict(zip(names, texts, strict=True)))


def marked_in_template(source: str) -> Iterator[Sentence]:
    """The sentences of one template. Raises SyntaxError where a tag stands in one."""
    if "trans" not in source and "_(" not in source:
        return
    for function, given in IN_TEMPLATE.findall(templatize(source)):
        names = MARKS.get(function, ONE)
        texts = ast.literal_eval(f"({given},)")
        yield Sentence(**dict(zip(names, texts, strict=False)))


def update(catalogue: polib.POFile, wanted: list[Sentence]) -> None:
    """Give the catalogue these sentences, in their order; it keeps the translations it has."""
    known = {sentence_of(entry): entry for entry in catalogue}
    rule = PLURALS.search(catalogue.metadata.get("Plural-Forms", ""))
    forms = int(rule[1]) if rule else 2
    catalogue[:] = [known.get(one) or new_entry(one, forms) for one in wanted]


def sentence_of(entry: polib.POEntry) -> Sentence:
    return Sentence(entry.msgid, entry.msgid_plural, entry.msgctxt or "")


def new_entry(sentence: Sentence, forms: int) -> polib.POEntry:
    told = {"msgid": sentence.one, "msgctxt": sentence.context or None}
    if not sentence.plural:
        return polib.POEntry(**told)
    empty = dict.fromkeys(range(forms), "")
    return polib.POEntry(**told, msgid_plural=sentence.plural, msgstr_plural=empty)


def untranslated(catalogue: polib.POFile) -> list[polib.POEntry]:
    """What has no translation, or one that nobody has looked at since the English changed."""
    return [entry for entry in catalogue if not entry.translated()]
