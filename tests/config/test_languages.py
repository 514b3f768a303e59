"""What is in which language: emails in the company's, all else in English (decision N21)."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polib
import pytest
from django.core.checks import run_checks
from django.test import Client
from django.utils import translation
from django.utils.formats import date_format
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.checks import SETTINGS
from companies.models import Company
from devtools import translations
from tests import builders as build
from tickets.models import Ticket

SPANISH = {"Accept-Language": "es-MX,es;q=0.9"}
CATALOGUES = translations.catalogues()
CODES = [path.parts[-3] for path in CATALOGUES]
AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def spanish(settings: Settings) -> Iterator[None]:
    """A deployment that is Spanish, in a thread that was just speaking it."""
    settings.LANGUAGE_CODE = "es"
    with translation.override("es"):
        yield


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"%(?:\(\w+\))?[sd]|{\w*}", text))


def test_there_is_a_catalogue_for_each_language_but_the_code_s(settings: Settings) -> None:
    assert ["en", *CODES] == [code for code, _ in settings.LANGUAGES]


@pytest.mark.parametrize("path", CATALOGUES, ids=CODES)
def test_what_is_compiled_is_what_was_translated(path: Path) -> None:
    """Otherwise: ./dev translate."""
    compiled = path.with_suffix(".mo").read_bytes()

    assert polib.pofile(str(path), wrapwidth=0).to_binary() == compiled


@pytest.mark.parametrize("path", CATALOGUES, ids=CODES)
def test_every_sentence_of_the_code_is_translated_and_no_other(path: Path) -> None:
    """Otherwise: ./dev translate, and write what is missing."""
    catalogue = polib.pofile(str(path), wrapwidth=0)
    known = [translations.sentence_of(entry) for entry in catalogue]

    assert known == translations.sentences(translations.ROOT)
    assert translations.untranslated(catalogue) == []
    for entry in catalogue:
        for said in [entry.msgstr, *entry.msgstr_plural.values()]:
            assert not said or placeholders(said) == placeholders(entry.msgid)


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


def test_a_sentence_is_not_put_together() -> None:
    with pytest.raises(ValueError, match="line 1"):
        list(translations.marked('gettext(f"Ticket {number}")'))


@pytest.mark.usefixtures("spanish")
def test_the_api_speaks_english_whatever_is_asked_for(api: APIClient, ticket: Ticket) -> None:
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


@pytest.mark.usefixtures("spanish")
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


def test_times_are_written_in_one_way(settings: Settings) -> None:
    for code, _ in settings.LANGUAGES:
        with translation.override(code):
            assert date_format(AT, "DATETIME_FORMAT") == "2026-01-02 03:04 UTC"
            assert date_format(AT, "SHORT_DATE_FORMAT") == "2026-01-02"


@pytest.mark.parametrize(("code", "found"), [("en", []), ("es", []), ("fr", ["config.E030"])])
def test_a_language_that_is_not_spoken_stops_a_start(
    settings: Settings, code: str, found: list[str]
) -> None:
    settings.LANGUAGE_CODE = code

    told = [one for one in run_checks(tags=[SETTINGS]) if one.is_serious()]

    assert [one.id for one in told] == found


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


@pytest.fixture
def desk(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("ada").user)
    return client
