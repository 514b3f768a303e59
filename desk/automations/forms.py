"""Form with the settings of an automation; each error names its field."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanWidget,
)

from core.values.texts import is_blank
from desk.common.generics import ModelForm
from desk.common.language_fields import entered_texts, initial_texts, language_fields
from tickets.automations.texts import usual_text
from tickets.changes.mentions import user_name_refusal
from tickets.models import Automation
from tickets.models.automations import LONGEST_TEXT

Kind = Automation.Kind
# Columns with a text for each language.
TEXTS = ("texts", "last_texts")
FIELDS = {
    Kind.REMIND: ("wait_days", "times", "texts"),
    Kind.CLOSE: ("wait_days", "last_texts", "last_days", "texts"),
    Kind.ESCALATE: ("hours_before", "reassigns"),
}
LABELS = {
    Kind.REMIND: {
        "wait_days": _("Working days of silence before each reminder"),
        "times": _("Number of reminders"),
        "texts": _("Reminder"),
    },
    Kind.CLOSE: {
        "wait_days": _("Working days of silence before the last reminder"),
        "last_texts": _("Last reminder"),
        "last_days": _("Working days from the last reminder to the decision"),
        "texts": _("Reason of the decision"),
    },
    Kind.ESCALATE: {
        "hours_before": _("Working hours before the ticket is due"),
        "reassigns": _("If its agent is not at work, reassign the ticket to the least busy agent"),
    },
}


class AutomationForm(ModelForm[Automation]):
    class Meta:
        model = Automation
        fields = ("wait_days", "times", "last_days", "hours_before", "reassigns")
        widgets = {
            **dict.fromkeys(
                ("wait_days", "times", "last_days", "hours_before"), UnfoldAdminIntegerFieldWidget
            ),
            "reassigns": UnfoldBooleanWidget,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = Kind(self.instance.kind)
        model_fields = dict(self.fields)
        self.fields.clear()
        for name in FIELDS[kind]:
            if name in TEXTS:
                self.add_texts(name)
            else:
                self.fields[name] = model_fields[name]
                model_fields[name].label = LABELS[kind][name]

    def add_texts(self, column: str) -> None:
        """Add a field per language, with the text that an empty one sends as its placeholder."""
        self.initial.update(initial_texts(column, getattr(self.instance, column)))
        fields = language_fields(
            column,
            LABELS[Kind(self.instance.kind)][column],
            max_length=LONGEST_TEXT,
            help_text=_("Leave empty for the text that is shown."),
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        )
        for name, field in fields.items():
            language = name.removeprefix(f"{column}_")
            usual = usual_text(self.instance, language, last=column == "last_texts")
            field.widget.attrs["placeholder"] = usual
            self.fields[name] = field

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for column in set(FIELDS[Kind(self.instance.kind)]).intersection(TEXTS):
            texts = entered_texts(column, cleaned)
            texts = {code: text for code, text in texts.items() if not is_blank(text)}
            for code, text in texts.items():
                if refusal := user_name_refusal(text):
                    self.add_error(f"{column}_{code}", ValidationError(refusal))
            setattr(self.instance, column, texts)
        return cleaned
