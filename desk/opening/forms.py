"""Form for a caller's ticket, validated like companies' requests."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from desk.common.forms import LONGEST_TEXT
from desk.opening import lookups
from portal.forms import TextField
from portal.opening_form import REFERENCES, NumberField, OpeningForm, pairs_of
from tickets.models import TicketType


class NewTicketForm(OpeningForm):
    """Company, ticket type, and the fields of that type."""

    company = forms.CharField(
        label=_("Company"),
        max_length=200,
        help_text=_("Name or ID."),
        widget=forms.TextInput(attrs={"data-names": "company", "autocomplete": "off"}),
    )
    type = forms.ChoiceField(label=_("Type"))
    shipment = forms.CharField(
        label=_("Shipment"), required=False, max_length=100, help_text=_("Tracking number or ID.")
    )
    carrier_id = NumberField(label=_("Carrier ID"), required=False)
    documents = forms.CharField(
        label=_("Documents"),
        required=False,
        max_length=LONGEST_TEXT,
        help_text=_("One per line, as name: value. A value is a text, a date or a link."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    text = TextField(
        label=_("Message"),
        required=False,
        max_length=LONGEST_TEXT,
        help_text=_("What the caller says. The company reads it as its own message."),
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    variables = forms.CharField(
        label=_("Other details"),
        required=False,
        max_length=LONGEST_TEXT,
        help_text=_("One per line, as name: value. Kept with the ticket as its variables."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    mine = forms.BooleanField(label=_("Assign to me"), required=False)

    field_order = ("company", "type")
    longest_input = LONGEST_TEXT
    references = {**REFERENCES, TicketType.Reference.NOTHING: ("shipment", "carrier_id")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = list(TicketType.objects.offered())
        choices = [("", gettext("Choose a type")), *((str(one.pk), str(one)) for one in types)]
        self.fields["type"] = forms.ChoiceField(label=_("Type"), choices=choices)
        chosen = self.data.get("type") if self.is_bound else self.initial.get("type")
        self.of_type = next((one for one in types if str(one.pk) == str(chosen)), None)
        if self.of_type:
            self.order_fields([*self.field_order, *self.fit(self.of_type)])

    def clean_company(self) -> Company:
        """Find the company; complete a partial name with one match, to be confirmed (`lookups`)."""
        typed = self.cleaned_data["company"]
        self.data = {**self.data, "company": lookups.whole_name(typed)}
        return lookups.find_company(typed)

    def clean_variables(self) -> list[tuple[str, str]]:
        return pairs_of(self.cleaned_data["variables"])

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        # A shipment can only be looked up for a known company.
        if self.of_type is None or "company" not in cleaned:
            return cleaned
        self.read_ticket(cleaned["company"], self.of_type)
        return cleaned

    def find_shipment(self, company: Company, number: str) -> int:
        return lookups.shipment_of_caller(company, number)
