"""The glossary of a language holds: no translation says a word that it bans."""

from pathlib import Path

import polib
import pytest

from tools.dev import glossary, translations

CODES = list(glossary.GLOSSARIES)
PAGE = """# Words

| English | Spanish | Never |
|---|---|---|
| claim | reclamo | reclamación, demanda |
| add | agregar | añad* |
| failure | falla | fallo |

| Sentence | Says | Why |
|---|---|---|
| Law… | demanda | the word of lawyers |
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "words.md"
    path.write_text(PAGE)
    return path


def found(page: Path, msgid: str, *said: str) -> list[str]:
    entry = polib.POEntry(msgid=msgid, msgstr=said[0])
    if len(said) > 1:
        entry = polib.POEntry(msgid=msgid, msgid_plural=msgid, msgstr_plural=dict(enumerate(said)))
    catalogue = polib.POFile()
    catalogue.append(entry)
    return [str(one) for one in glossary.breaches(catalogue, page)]


def test_names_the_sentence_the_word_and_what_to_write(page: Path) -> None:
    assert found(page, "Claim sent.", "Reclamación enviada.") == [
        "'Claim sent.' says 'reclamación': write reclamo"
    ]


@pytest.mark.parametrize(
    "said",
    [("RECLAMACIÓN",), ("Las reclamaciones",), ("bien", "dos demandas"), ("Añadir",), ("añada",)],
)
def test_finds_any_case_plural_and_ending(page: Path, said: tuple[str, ...]) -> None:
    assert len(found(page, "A", *said)) == 1


@pytest.mark.parametrize(
    "said", ["reclamo", "El envío falló.", "%(demanda)s {fallo}", "<b demanda>", "demandante"]
)
def test_leaves_other_words_names_and_tags_alone(page: Path, said: str) -> None:
    assert found(page, "A", said) == []


def test_an_exception_is_for_one_sentence_and_one_word(page: Path) -> None:
    assert found(page, "Law of Mexico", "demanda") == []
    assert len(found(page, "Law of Mexico", "reclamación")) == 1
    assert len(found(page, "Other", "demanda")) == 1


@pytest.mark.parametrize("code", CODES)
def test_no_translation_says_a_banned_word(code: str) -> None:
    path, page = translations.LOCALE / code / "LC_MESSAGES/django.po", glossary.GLOSSARIES[code]
    catalogue = polib.pofile(str(path))

    assert [str(one) for one in glossary.breaches(catalogue, page)] == []


@pytest.mark.parametrize("code", CODES)
def test_the_page_bans_words_and_each_exception_is_needed(code: str, tmp_path: Path) -> None:
    text = glossary.GLOSSARIES[code].read_text()
    (tmp_path / "strict.md").write_text(text.partition(glossary.EXCEPTIONS)[0])
    catalogue = polib.pofile(str(translations.LOCALE / code / "LC_MESSAGES/django.po"))

    needed = {(one.msgid, one.word) for one in glossary.breaches(catalogue, tmp_path / "strict.md")}

    listed = glossary.table(text, glossary.EXCEPTIONS)
    assert len(glossary.banned_words(text)) > 50
    assert len(needed) == len(listed)
    assert all(why for _, _, why in listed)


def test_translate_fails_on_a_banned_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue = tmp_path / "locale" / "es" / "LC_MESSAGES" / "django.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text('msgid "Claims"\nmsgstr "Reclamaciones"\n')
    (tmp_path / "tickets").mkdir()
    (tmp_path / "tickets" / "words.py").write_text('gettext("Claims")\n')
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "LOCALE", tmp_path / "locale")

    assert translations.translate([]) == 1

    said = capsys.readouterr().err
    assert "'Claims' says 'reclamación': write reclamo, apelación (docs/spanish.md)" in said
