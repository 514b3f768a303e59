"""`./dev translate`: catalogues in `locale/` with the code's sentences and translations."""

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
from tools.dev.glossary import GLOSSARIES, breaches
from tools.dev.trouble import UsageError, say

LOCALE = ROOT / "locale"
DJANGO_LOCALE = Path(django.__file__).parent / "conf" / "locale"
PLURALS = re.compile(r"nplurals=(\d+)")
APPS = (
    "core",
    "companies",
    "webhooks",
    "deliveries",
    "shipments",
    "tickets",
    "portal",
    "desk",
    "config",
)
TEMPLATES = "templates"
# Names that Django derives, and texts of other packages at the desk.
OTHERS = "locale/others.pot"


# Functions that mark a sentence, and their arguments. A context separates meanings of a word.
ONE, SEVERAL, IN_CONTEXT = ("one",), ("one", "plural"), ("context", "one")
MARKS = {
    "gettext": ONE,
    # Alias of gettext_lazy in forms and models.
    "_": ONE,
    "gettext_lazy": ONE,
    "gettext_noop": ONE,
    "ngettext": SEVERAL,
    "ngettext_lazy": SEVERAL,
    "pgettext": IN_CONTEXT,
    "pgettext_lazy": IN_CONTEXT,
}
# Django's templatize converts a template's tags, and `_("…")` in them, to these forms.
STRING = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"(?<!\w)(_|gettext|ngettext|pgettext)\(({STRING}(?:, {STRING})*)")


class Sentence(NamedTuple):
    """Translatable English text; `plural` is its plural form, if any."""

    one: str
    plural: str = ""
    context: str = ""


def translate(arguments: list[str]) -> int:
    """Update and compile the catalogues; return 1 if one is missing or says a banned word.

    Creates a catalogue for each language code in `arguments`. Raises UsageError.
    """
    for code in arguments:
        begin_catalogue(code)
    wanted = sentences(ROOT)
    wrong = 0
    for path in catalogues():
        catalogue = polib.pofile(str(path), wrapwidth=0)
        update(catalogue, wanted)
        catalogue.save()
        path.with_suffix(".mo").write_bytes(catalogue.to_binary())
        for entry in untranslated(catalogue):
            wrong += 1
            say(f"{path.relative_to(LOCALE.parent)}: no translation of {entry.msgid!r}")
        if page := GLOSSARIES.get(path.parts[-3]):
            for breach in breaches(catalogue, page):
                wrong += 1
                say(f"{path.relative_to(LOCALE.parent)}: {breach} (docs/{page.name})")
    return 1 if wrong else 0


def begin_catalogue(code: str) -> None:
    """Write an empty catalogue with Django's plural rule, unless there is one.

    Raises UsageError for a language that Django does not have.
    """
    path = LOCALE / to_locale(code) / "LC_MESSAGES" / "django.po"
    if path.exists():
        return
    theirs = DJANGO_LOCALE / path.relative_to(LOCALE)
    if not theirs.exists():
        raise UsageError(f"Django has no language {code}: take a code of django/conf/locale")
    new_catalogue = polib.POFile(wrapwidth=0)
    new_catalogue.metadata = {
        "Language": to_locale(code),
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": polib.pofile(str(theirs)).metadata["Plural-Forms"],
    }
    path.parent.mkdir(parents=True)
    new_catalogue.save(str(path))


def catalogues() -> list[Path]:
    """Return the catalogues of all languages but English, that of the code."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def sentences(root: Path) -> list[Sentence]:
    """Return sentences of code, templates and `OTHERS`, in this order. Raises UsageError."""
    files = [path for app in APPS for path in sorted((root / app).rglob("*.py"))]
    files += sorted((root / TEMPLATES).rglob("*.html"))
    by_sentence: dict[Sentence, None] = {}
    for path in files:
        read = marked_in_template if path.suffix == ".html" else marked
        try:
            by_sentence |= dict.fromkeys(read(path.read_text()))
        except (ValueError, SyntaxError) as error:
            raise UsageError(f"{path.relative_to(root)}, {error}") from error
    if (root / OTHERS).exists():
        by_sentence |= dict.fromkeys(map(sentence_of, polib.pofile(str(root / OTHERS))))
    return list(by_sentence)


def marked(source: str) -> Iterator[Sentence]:
    """Yield the sentences of one file; a variable is marked where it is assigned.

    Raises ValueError for a sentence that is composed at run time.
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
    """Yield the sentences of a template. Raises SyntaxError if one contains a tag."""
    if "trans" not in source and "_(" not in source:
        return
    for function, arguments in IN_TEMPLATE.findall(templatize(source)):
        names = MARKS.get(function, ONE)
        texts = ast.literal_eval(f"({arguments},)")
        yield Sentence(**dict(zip(names, texts, strict=False)))


def update(catalogue: polib.POFile, wanted: list[Sentence]) -> None:
    """Set the catalogue's sentences in this order, and keep existing translations."""
    by_entry = {sentence_of(entry): entry for entry in catalogue}
    rule = PLURALS.search(catalogue.metadata.get("Plural-Forms", ""))
    forms = int(rule[1]) if rule else 2
    catalogue[:] = [by_entry.get(one) or new_entry(one, forms) for one in wanted]


def sentence_of(entry: polib.POEntry) -> Sentence:
    return Sentence(entry.msgid, entry.msgid_plural, entry.msgctxt or "")


def new_entry(sentence: Sentence, forms: int) -> polib.POEntry:
    fields = {"msgid": sentence.one, "msgctxt": sentence.context or None}
    if not sentence.plural:
        return polib.POEntry(**fields)
    empty = dict.fromkeys(range(forms), "")
    return polib.POEntry(**fields, msgid_plural=sentence.plural, msgstr_plural=empty)


def untranslated(catalogue: polib.POFile) -> list[polib.POEntry]:
    """Return entries without a translation, or with one older than the English text."""
    return [entry for entry in catalogue if not entry.translated()]
