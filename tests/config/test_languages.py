"""Languages by reader: emails in the company's, the API in English (decision N21).

The desk's is that of its reader (tests/desk/test_language.py).
"""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import polib
import pytest
import unfold
from django.contrib import admin
from django.contrib.admin.utils import flatten, flatten_fieldsets
from django.core.checks import run_checks
from django.core.exceptions import FieldDoesNotExist
from django.test import Client
from django.utils import translation
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext, to_locale
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.watch.checks import SETTINGS
from deliveries.engine.signature_check import SecretStatus, Verdict
from tests import builders as build
from tickets.models import Ticket
from tickets.statuses import AGENT_MOVES, Status
from tools.dev import strings, translations
from tools.dev.trouble import UsageError
from webhooks.event_types import registry

SPANISH = {"Accept-Language": "es-MX,es;q=0.9"}
CATALOGUES = translations.catalogues()
CODES = [path.parts[-3] for path in CATALOGUES]
AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def spanish(settings: Settings) -> Iterator[None]:
    """Deploy in Spanish, in a thread that has just translated into it."""
    settings.DESK_LANGUAGE = "es"
    with translation.override("es"):
        yield


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"%(?:\(\w+\))?[sd]|{\w*}", text))


def test_there_is_a_catalogue_for_each_language_but_the_code_s(settings: Settings) -> None:
    codes = sorted(to_locale(code) for code, _ in settings.LANGUAGES)

    assert codes == sorted(["en", *CODES])


# Documents that list the languages for a company, an agent or an operator.
NAMED_IN = ("docs/desk.md", "docs/api.md", "docs/guides/tickets.md")


def test_the_documents_name_each_language(settings: Settings) -> None:
    with translation.override("en"):
        names = " or ".join(str(name) for _, name in settings.LANGUAGES)
    codes = " or ".join(f"`{code}`" for code, _ in settings.LANGUAGES)

    for page in NAMED_IN:
        assert names in (translations.ROOT / page).read_text(), f"{page} does not say {names}"
    for page, words in (
        ("operating.md", f"| {codes}: the desk"),
        ("guides/page.md", f"| {codes};"),
    ):
        text = (translations.ROOT / "docs" / page).read_text()
        assert words in text, f"docs/{page} does not say {words}"


def test_what_event_types_are_about_is_translated() -> None:
    """Otherwise mark the description with gettext_noop: the company's page shows it."""
    marked = {one.one for one in translations.sentences(translations.ROOT)}

    assert [one.name for one in registry if one.description not in marked] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=CODES)
def test_compiled_catalogue_is_up_to_date(path: Path) -> None:
    """Otherwise run ./dev translate."""
    compiled = path.with_suffix(".mo").read_bytes()

    assert polib.pofile(str(path), wrapwidth=0).to_binary() == compiled


@pytest.mark.parametrize("path", CATALOGUES, ids=CODES)
def test_every_sentence_of_the_code_is_translated_and_no_other(path: Path) -> None:
    """Otherwise run ./dev translate, and write what is missing."""
    catalogue = polib.pofile(str(path), wrapwidth=0)
    translated = [translations.sentence_of(entry) for entry in catalogue]

    wanted = translations.sentences(translations.ROOT)
    new = [one.one for one in wanted if one not in translated]
    obsolete = [one.one for one in translated if one not in wanted]
    assert translated == wanted, f"run ./dev translate: new are {new}, gone are {obsolete}"
    missing = [entry.msgid for entry in translations.untranslated(catalogue)]
    assert missing == [], f"write these in {path.parent.parent.name}, and run ./dev translate"
    for entry in catalogue:
        expected = placeholders(entry.msgid_plural or entry.msgid)
        for text in [entry.msgstr, *entry.msgstr_plural.values()]:
            assert not text or placeholders(text) == expected, entry.msgid


def test_translate_keeps_what_is_translated_and_names_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue = tmp_path / "locale" / "es" / "LC_MESSAGES" / "django.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text('msgid "Yes"\nmsgstr "Sí"\n\nmsgid "Gone"\nmsgstr "Ido"\n')
    (tmp_path / "tickets").mkdir()
    module = tmp_path / "tickets" / "words.py"
    module.write_text('gettext("Yes")\nngettext("%(n)d day", "%(n)d days", 2)\nother("No")\n')
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "LOCALE", tmp_path / "locale")

    assert translations.translate([]) == 1

    assert "no translation of '%(n)d day'" in capsys.readouterr().err
    assert [entry.msgid for entry in polib.pofile(str(catalogue))] == ["Yes", "%(n)d day"]
    module.write_text('gettext("Yes")\n')
    assert translations.translate([]) == 0
    (entry,) = polib.mofile(str(catalogue.with_suffix(".mo")))
    assert (entry.msgid, entry.msgstr) == ("Yes", "Sí")


def test_translate_begins_a_language_with_its_plural_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tickets").mkdir()
    module = tmp_path / "tickets" / "words.py"
    module.write_text('ngettext("%(n)d day", "%(n)d days", 2)\n')
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "LOCALE", tmp_path / "locale")

    assert translations.translate(["pl", "pt-br"]) == 1

    polish = tmp_path / "locale" / "pl" / "LC_MESSAGES" / "django.po"
    assert "locale/pl/LC_MESSAGES/django.po: no translation" in capsys.readouterr().err
    catalogue = polib.pofile(str(polish))
    assert catalogue.metadata["Plural-Forms"].startswith("nplurals=4; plural=(n==1 ? 0")
    assert catalogue[0].msgstr_plural == dict.fromkeys(range(4), "")
    assert (tmp_path / "locale" / "pt_BR" / "LC_MESSAGES" / "django.mo").exists()
    catalogue[0].msgstr_plural = dict(enumerate(["dzień", "dni", "dni", "dnia"]))
    catalogue.save()
    translations.translate(["pl"])
    assert polib.pofile(str(polish))[0].msgstr_plural[3] == "dnia"
    with pytest.raises(UsageError, match="no language zxx"):
        translations.translate(["zxx"])


TEMPLATES = sorted((translations.ROOT / "templates").rglob("*.html"))
# Guides are for developers; evidence has the same bytes for every reader.
IN_ENGLISH = ("guides/", "desk/evidence.html")
# Names of products, keys and units.
NO_WORDS = {"parceldesk", "CSV", "URL", "ID", "X-Webhook-Id", "ms", "Esc", "Ctrl", "Enter"}
NO_WORDS |= {"PDF", "ZIP"}
NO_WORDS |= {"sync_alt", "person", "chevron_right", "dock_to_right", "search", "notifications"}
# A tag that is assembled at run time is not text.
SPLIT_TAG = re.compile(r"<{%.*?>", re.DOTALL)
IN_BLOCK = re.compile(r"{% blocktranslate.*?{% endblocktranslate %}", re.DOTALL)
IN_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}", re.DOTALL)


def words_left(source: str) -> list[str]:
    """Return the texts of a template that nobody marked for translation."""
    words = strings.Words()
    words.feed(
        strings.TAG.sub(" ", IN_BLOCK.sub("", SPLIT_TAG.sub("", IN_COMMENT.sub("", source))))
    )
    texts = (re.sub(r"{{.*?}}", " ", text) for _, text in words.texts)
    candidates = (word for text in texts for word in re.findall(r"[A-Za-z][\w-]*[A-Za-z]", text))
    return [word for word in candidates if word not in NO_WORDS]


def test_every_text_of_a_template_is_marked() -> None:
    judged = [
        path
        for path in TEMPLATES
        if not path.relative_to(translations.ROOT / "templates").as_posix().startswith(IN_ENGLISH)
    ]

    unmarked = {path.name: words for path in judged if (words := words_left(path.read_text()))}

    assert len(judged) > 30
    assert unmarked == {}


def test_a_text_that_is_not_marked_is_noticed() -> None:
    marked = '<p title="{% translate \'Name\' %}">{% translate "Hi" %} {{ name }}</p>'

    assert words_left(marked) == []
    assert words_left(f"{marked}<b>Bye</b>") == ["Bye"]
    assert words_left('<b title="Bye"></b>') == ["Bye"]


def spoken_at_import(source: str) -> list[int]:
    """Return the lines that translate a text at import, before anybody has a language."""
    at_once = {name for name in translations.MARKS if not name.endswith(("_lazy", "_noop", "_"))}
    lines: list[int] = []
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                # Decorators and defaults run at once.
                waiting += node.decorator_list if isinstance(node, ast.FunctionDef) else []
                waiting.append(node.args)
                continue
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in at_once:
                lines.append(node.lineno)
            waiting.append(node)
    return lines


def test_nothing_is_translated_before_somebody_reads_it() -> None:
    files = [one for app in translations.APPS for one in (translations.ROOT / app).rglob("*.py")]

    wrong = {one.name: lines for one in files if (lines := spoken_at_import(one.read_text()))}

    assert wrong == {}
    assert spoken_at_import('A = gettext("a")\ndef f(): return gettext("b")') == [1]
    assert spoken_at_import('class A:\n    b = display(description=gettext("b"))') == [2]


def test_every_word_that_follows_from_a_code_is_in_the_catalogue() -> None:
    """Require each text that code composes at run time to be marked somewhere."""
    marked = {one.one for one in translations.sentences(translations.ROOT)}

    words = [f"{one.name}: {one.label}" for one in Status if one.label not in marked]
    words += [
        f"{to.name}: {word}"
        for to, move in AGENT_MOVES.items()
        for word in (move.verb, move.action)
        if word not in marked
    ]
    assert not words, f"tickets/statuses.py: mark with gettext_noop what is said of {words}"
    assert {str(one) for kind in (SecretStatus, Verdict) for one in kind} <= marked


def test_each_name_of_a_table_or_field_that_the_desk_shows_is_translated() -> None:
    """Require a verbose name: one that Django derives from a class or column is English."""
    verbose_names: dict[str, object] = {}
    for model, page in admin.site._registry.items():
        for table, options in [(model, page), *((one.model, one) for one in page.inlines)]:
            meta = table._meta
            if meta.app_label not in translations.APPS:
                continue
            names = [*flatten(options.fields or ()), *getattr(options, "list_display", ())]
            for name in [*names, *flatten_fieldsets(options.fieldsets or ())]:
                with suppress(FieldDoesNotExist):
                    field = meta.get_field(name)
                    verbose_names[f"{meta.label}.{name}"] = getattr(field, "verbose_name", "")
            verbose_names[meta.label] = meta.verbose_name
            verbose_names[f"{meta.label}, several"] = meta.verbose_name_plural
            verbose_names[meta.app_label] = meta.app_config.verbose_name
    marked = {one.one for one in translations.sentences(translations.ROOT)}

    assert len(verbose_names) > 60
    same = {"ID", "id", "url", ""}
    assert {
        place: str(name)
        for place, name in verbose_names.items()
        if str(name) not in same and not (isinstance(name, Promise) and str(name) in marked)
    } == {}


def test_unfold_has_spanish_words_on_pages_of_the_desk() -> None:
    """Cover Unfold's texts, which has no Spanish of its own, by Django's and our catalogue."""
    texts = {
        sentence.one
        for path in (Path(unfold.__file__).parent / "templates").rglob("*.html")
        for sentence in translations.marked_in_template(path.read_text())
        if not sentence.plural
    }

    with translation.override("es"):
        untranslated = {one for one in texts if gettext(one.replace("%%", "%")) == one}

    assert len(texts) > 100
    # Texts that are the same in both languages, or that the desk does not use.
    assert untranslated <= {
        "General",
        "Add row",
        "Object",
        "Group",
        "Submit",
        "%(full_result_count)s total",
    }


def test_the_sentences_of_a_template_are_found() -> None:
    source = """
      {% translate "Yes" %} {% translate "open" context "ticket" %} {{ name|default:_("none") }}
      {% blocktranslate trimmed count days=days %}{{ days }}
        day{% plural %}{{ days }} days{% endblocktranslate %}"""

    assert set(translations.marked_in_template(source)) == {
        translations.Sentence("Yes"),
        translations.Sentence("open", context="ticket"),
        translations.Sentence("none"),
        translations.Sentence("%(days)s day", "%(days)s days"),
    }


def test_no_sentence_is_concatenated() -> None:
    with pytest.raises(ValueError, match="line 1"):
        list(translations.marked('gettext(f"Ticket {number}")'))


@pytest.mark.usefixtures("spanish")
def test_api_is_english_whatever_language_is_requested(api: APIClient, ticket: Ticket) -> None:
    answers = [
        api.post("/company/tickets", {"type_id": 0, "colour": 1}, headers=SPANISH),
        api.post(f"/tickets/ratings/{ticket.pk}", {"comment": ""}, headers=SPANISH),
        api.get("/company/tickets/999", headers=SPANISH),
        api.patch("/company/tickets", {}, headers=SPANISH),
        APIClient().get("/webhooks", headers=SPANISH),
    ]

    assert [answer.json()["message"] for answer in answers] == [
        "colour: Unknown field. (and 1 more)",
        "rating: This field is required.",
        "Not found.",
        'Method "PATCH" not allowed.',
        "Send the header Authorization: Bearer <API token>.",
    ]
    assert answers[0].json()["errors"][1] == {
        "field": "type_id",
        "message": "Ensure this value is greater than or equal to 1.",
        "code": "too_small",
    }


def test_the_desk_is_english_for_a_browser_that_asks_for_spanish(
    desk: Client, ticket: Ticket
) -> None:
    pages = [
        Client().get("/admin/login/", headers=SPANISH),
        desk.get("/admin/password_change/", headers=SPANISH),
        desk.get(f"/admin/tickets/ticket/{ticket.pk}/change/", headers=SPANISH),
    ]

    for page, words in zip(pages, ("Log in", "Old password", "Conversation"), strict=True):
        text = page.content.decode()
        assert words in text
        assert '<html lang="en"' in text
    assert "contraseña" not in pages[0].content.decode() + pages[1].content.decode()


@pytest.mark.parametrize(
    ("code", "time", "day"),
    [
        ("en", "2026-01-02 03:04", "2026-01-02"),
        ("es", "02/01/2026 03:04", "02/01/2026"),
        # Without a folder in config/formats: Django's formats, or English ones if it has none.
        ("nl", "2 januari 2026 03:04", "2-1-2026"),
        ("bg", "2026-01-02 03:04", "02.01.2026"),
        ("sw", "2026-01-02 03:04", "2026-01-02"),
    ],
)
def test_times_are_written_as_the_language_has_it(code: str, time: str, day: str) -> None:
    with translation.override(code):
        assert date_format(AT, "DATETIME_FORMAT") == time
        assert date_format(AT, "SHORT_DATE_FORMAT") == day


@pytest.mark.parametrize(("code", "ids"), [("en", []), ("es", []), ("zxx", ["config.E030"])])
def test_a_language_that_is_not_spoken_stops_a_start(
    settings: Settings, code: str, ids: list[str]
) -> None:
    settings.DESK_LANGUAGE = code

    messages = [one for one in run_checks(tags=[SETTINGS]) if one.is_serious()]

    assert [one.id for one in messages] == ids


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


@pytest.fixture
def desk(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("ada").user)
    return client
