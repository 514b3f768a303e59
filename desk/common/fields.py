"""Fields of plain forms, as Unfold draws them."""

from collections.abc import Callable
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from core.values.ids import LARGEST_ID
from desk.common.generics import StrOrPromise


def text_field(
    label: StrOrPromise,
    longest: int,
    hint: StrOrPromise = "",
    *,
    required: bool = False,
    attrs: dict[str, Any] | None = None,
) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=longest,
        help_text=hint,
        required=required,
        widget=UnfoldAdminTextInputWidget(attrs=attrs),
    )


def number_field(
    label: StrOrPromise,
    hint: StrOrPromise = "",
    *,
    least: int = 1,
    most: int = LARGEST_ID,
    attrs: dict[str, Any] | None = None,
) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        min_value=least,
        max_value=most,
        help_text=hint,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs=attrs),
    )


def choice_field(
    label: StrOrPromise,
    choices: list[tuple[str, StrOrPromise]] | Callable[[], list[tuple[str, str]]],
    *,
    required: bool = True,
) -> forms.ChoiceField:
    widget = UnfoldAdminSelectWidget
    return forms.ChoiceField(label=label, choices=choices, required=required, widget=widget)
