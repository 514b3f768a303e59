"""Texts that people write in several languages: one JSON column, keyed by the code of each.

Languages are neither columns nor choices of a migration: `settings.LANGUAGES` alone lists them.
A text that is missing in a language is English (decision N21).
"""

from collections.abc import Mapping

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext

FALLBACK = "en"
LONGEST_CODE = 10


def language_choices() -> list[tuple[str, str | Promise]]:
    """Return the choices of a column; migrations name this function, so a language needs none."""
    return list(settings.LANGUAGES)


def check_languages(texts: Mapping[str, str]) -> None:
    """Raise ValidationError for a language that the desk does not have."""
    if unknown := sorted(texts.keys() - dict(settings.LANGUAGES).keys()):
        text = gettext("There is no language %(codes)s.")
        raise ValidationError(text % {"codes": ", ".join(unknown)})


def text_in(language: str | None, texts: Mapping[str, str]) -> str:
    """Return the text in a language, else the English one; "" without either."""
    return texts.get(language or FALLBACK) or texts.get(FALLBACK, "")


def sentence_in(language: str, sentence: str) -> str:
    """Return the catalogue's translation of an English sentence; "" if it has none."""
    with translation.override(language):
        translated = gettext(sentence)
    return translated if language == FALLBACK or translated != sentence else ""
