"""Forms with which an operator chooses deliveries to send again, and confirms their number."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from companies.models import Company
from deliveries.engine.holding import InvalidHost, parse_host
from deliveries.models import STATES, State
from deliveries.upkeep import replaying
from deliveries.upkeep.choosing import Choice, ChosenCount
from desk.common.fields import choice_field, number_field, text_field
from desk.support.pages import company_field, find_company, type_field

NARROWS = ("webhook", "company", "host", "since", "until")


def states() -> list[tuple[str, str]]:
    first = [State.GIVEN_UP, *(state for state in State if state != State.GIVEN_UP)]
    return [(state.slug, str(state.label)) for state in first]


def time_field(label: Any, hint: Any) -> forms.DateTimeField:
    widget = UnfoldAdminTextInputWidget(attrs={"type": "datetime-local", "step": "1"})
    return forms.DateTimeField(required=False, label=label, help_text=hint, widget=widget)


class ReplayForm(forms.Form):
    """The deliveries to send again, and their rate. A delivery must match all fields."""

    company = company_field()
    webhook = number_field(gettext_lazy("Webhook ID"))
    host = text_field(gettext_lazy("Host"), 255)
    type = type_field()
    since = time_field(gettext_lazy("Created from"), "")
    until = time_field(gettext_lazy("Created before"), gettext_lazy("Empty: up to now."))
    state = choice_field(gettext_lazy("State"), states)
    rate = number_field(
        gettext_lazy("Per second"),
        gettext_lazy("Empty: up to 1,000 deliveries at once, more at 100 a second."),
        most=replaying.MOST_A_SECOND,
    )

    def clean_company(self) -> Company | None:
        return find_company(self.cleaned_data["company"])

    def clean_host(self) -> str:
        try:
            return parse_host(self.cleaned_data["host"]) if self.cleaned_data["host"] else ""
        except InvalidHost as error:
            text = gettext("Enter a name such as hooks.example.com, or an address.")
            raise forms.ValidationError(text) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not any(cleaned.get(name) for name in NARROWS):
            raise forms.ValidationError(gettext("Enter a company, a webhook, a host or a time."))
        return cleaned

    def choice(self) -> Choice:
        values = self.cleaned_data
        now = timezone.now()
        until: datetime = values["until"] or now
        return Choice(
            until=min(until, now),
            since=values["since"],
            state=STATES[values["state"]],
            webhook_id=values["webhook"],
            company_id=values["company"].pk if values["company"] else None,
            type_id=values["type"],
            host=values["host"],
        )


class ConfirmForm(forms.Form):
    """The number of deliveries, typed as a confirmation."""

    confirm = text_field(
        gettext_lazy("Type the number of deliveries to send them again"),
        20,
        required=True,
        attrs={"inputmode": "numeric", "autocomplete": "off"},
    )

    def __init__(self, data: Any, chosen: ChosenCount) -> None:
        super().__init__(data)
        self.number = chosen.deliveries

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"]
        if not self.number or typed.strip().replace(",", "") != str(self.number):
            text = gettext("That is not the number of these deliveries. Nothing was sent.")
            raise forms.ValidationError(text)
        return typed
