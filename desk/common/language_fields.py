"""Form fields for a column of texts by language (core.values.languages), one per language."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.utils.functional import Promise
from django.utils.text import format_lazy

from core.values.languages import FALLBACK


def language_fields(
    column: str, label: str | Promise, *, required: bool = False, **options: Any
) -> dict[str, forms.CharField]:
    """Make the fields in the order of LANGUAGES; if `required`, English must be filled in."""
    return {
        f"{column}_{code}": forms.CharField(
            label=format_lazy("{} ({})", label, name),
            required=required and code == FALLBACK,
            **options,
        )
        for code, name in settings.LANGUAGES
    }


def initial_texts(column: str, texts: Mapping[str, str]) -> dict[str, str]:
    return {f"{column}_{code}": text for code, text in texts.items()}


def entered_texts(column: str, cleaned: Mapping[str, Any]) -> dict[str, str]:
    """Return the non-empty texts of a form's cleaned data by language."""
    texts = {code: cleaned.get(f"{column}_{code}", "") for code, _ in settings.LANGUAGES}
    return {code: text for code, text in texts.items() if text}
