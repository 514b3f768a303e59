"""A further language is its code, a catalogue and rows, as the recipe of CONTRIBUTING.md says.

The consequences are checked by checks.py, in a process of its own that speaks the language.
"""

import os
import subprocess
import sys
from pathlib import Path

import polib
import pytest
from pytest_django import Settings

from tools.dev import translations

CODE = "eo"
CHECKS = "tests/further_language/checks.py"
TIMEOUT_SECONDS = 300
# A few: a queue's name, a plural, a text of ours to companies, and one ready macro.
SENTENCES = {
    "Unassigned": "Neasignitaj",
    "There is %(count)s agent.": ["Estas %(count)s agento.", "Estas %(count)s agentoj."],
    "We have not heard from you, and we cannot go on with this ticket without your answer.": (
        "Ni ne ricevis respondon."
    ),
    "Damaged: ask for photos and invoice": "Difektita: peti fotojn kaj fakturon",
    "Hello {company},\n\nto claim the damage to {tracking} from the carrier, we need photos of the"
    " damage and of the packaging, and the invoice. Please keep the packaging until the claim is"
    " decided.\n\n{agent}": "Saluton, {company}: sendu fotojn pri {tracking}. {agent}",
}


def translate_a_handful(locale: Path) -> None:
    """Follow the recipe: begin the catalogue, write some sentences, compile them."""
    assert translations.translate([CODE]) == 1
    path = locale / CODE / "LC_MESSAGES" / "django.po"
    catalogue = polib.pofile(str(path), wrapwidth=0)
    for english, theirs in SENTENCES.items():
        entry = catalogue.find(english)
        if isinstance(theirs, str):
            entry.msgstr = theirs
        else:
            entry.msgstr_plural = dict(enumerate(theirs))
    catalogue.save()
    translations.translate([])


@pytest.mark.slow
def test_everything_follows_from_a_code_a_catalogue_and_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    locale = tmp_path / "locale"
    monkeypatch.setattr(translations, "LOCALE", locale)
    translate_a_handful(locale)
    assert (
        "locale/eo/LC_MESSAGES/django.po: no translation of 'Escalated'" in capsys.readouterr().err
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    # Databases of the broker are divided among workers (tests/settings.py).
    environment["PYTEST_XDIST_WORKER"] = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]

    result = subprocess.run(
        [*program, "--ds=tests.further_language.settings", CHECKS],
        cwd=translations.ROOT,
        env={**environment, "FURTHER_LOCALE": str(locale)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_the_service_itself_does_not_speak_it(settings: Settings) -> None:
    assert CODE not in dict(settings.LANGUAGES)
