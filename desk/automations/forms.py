"""What leads set of an automation; each refusal names its field."""

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
from tickets.automations.texts import usual_text
from tickets.changes.mentions import user_name_refusal
from tickets.models import Automation

Kind = Automation.Kind
TEXTS = ("text_en", "text_es")
LAST_TEXTS = ("last_text_en", "last_text_es")
FIELDS = {
    Kind.REMIND: ("wait_days", "times", *TEXTS),
    Kind.CLOSE: ("wait_days", *LAST_TEXTS, "last_days", *TEXTS),
    Kind.ESCALATE: ("hours_before", "reassigns"),
}
LABELS = {
    Kind.REMIND: {
        "wait_days": _("Working days of silence before each reminder"),
        "times": _("Number of reminders"),
        "text_en": _("Reminder in English"),
        "text_es": _("Reminder in Spanish"),
    },
    Kind.CLOSE: {
        "wait_days": _("Working days of silence before the last reminder"),
        "last_text_en": _("Last reminder in English"),
        "last_text_es": _("Last reminder in Spanish"),
        "last_days": _("Working days from the last reminder to the decision"),
        "text_en": _("Reason of the decision in English"),
        "text_es": _("Reason of the decision in Spanish"),
    },
    Kind.ESCALATE: {
        "hours_before": _("Working hours before the ticket is due"),
        "reassigns": _("If its agent is not at work, reassign the ticket to the least busy agent"),
    },
}


class AutomationForm(ModelForm[Automation]):
    class Meta:
        model = Automation
        fields = sorted({name for names in FIELDS.values() for name in names})
        widgets = {
            **dict.fromkeys(
                ("wait_days", "times", "last_days", "hours_before"), UnfoldAdminIntegerFieldWidget
            ),
            "reassigns": UnfoldBooleanWidget,
        }

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        kind = Kind(self.instance.kind)
        asked = {name: self.fields[name] for name in FIELDS[kind]}
        self.fields.clear()
        for name, field in asked.items():
            self.fields[name] = field
            field.label = LABELS[kind][name]
            if name.startswith(("text", "last_text")):
                usual = usual_text(self.instance, name[-2:], last=name in LAST_TEXTS)
                attrs = {"rows": 3, "placeholder": usual}
                field.widget = UnfoldAdminTextareaWidget(attrs=attrs)
                field.help_text = _("Leave empty for the text that is shown.")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in (*TEXTS, *LAST_TEXTS):
            text = cleaned.get(name, "")
            if is_blank(text):
                cleaned[name] = ""
            elif refusal := user_name_refusal(text):
                self.add_error(name, ValidationError(refusal))
        return cleaned
