"""Form for a caller's ticket, validated like companies' requests."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from desk.common.forms import LONGEST_TEXT, TextField
from desk.opening import lookups
from portal.opening_form import PREFIX, NumberField, OpeningForm
from tickets.models import TicketType

# Fields of a ticket that depend on its type, by the reference of the type.
FIELDS = {
    "": ("shipment", "carrier_id"),
    "guide": ("shipment",),
    "credit": ("credit_id",),
    "warehouse-package": ("warehouse_package_id",),
    "legal-credit": ("documents",),
}


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
    credit_id = NumberField(label=_("Credit ID"), required=False)
    carrier_id = NumberField(label=_("Carrier ID"), required=False)
    warehouse_package_id = forms.CharField(label=_("Package"), required=False, max_length=255)
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = list(TicketType.objects.offered())
        choices = [("", gettext("Choose a type")), *((str(one.pk), str(one)) for one in types)]
        self.fields["type"] = forms.ChoiceField(label=_("Type"), choices=choices)
        chosen = self.data.get("type") if self.is_bound else self.initial.get("type")
        self.of_type = next((one for one in types if str(one.pk) == str(chosen)), None)
        if self.of_type:
            self.fit(self.of_type)

    def fit(self, to: TicketType) -> None:
        """Remove the fields that the type does not have, and add its inputs."""
        wanted = FIELDS[to.reference]
        for name in {one for names in FIELDS.values() for one in names} - set(wanted):
            del self.fields[name]
        for name in wanted:
            self.fields[name].required = bool(to.reference) and to.reference_required
        for number, input_spec in enumerate(to.inputs):
            self.fields[f"{PREFIX}{number}"] = input_field(input_spec)
        text_first = ["company", "type", *wanted, "text"]
        self.order_fields([*text_first, *(f"{PREFIX}{n}" for n in range(len(to.inputs)))])

    def clean_company(self) -> Company:
        """Find the company; complete a partial name with one match, to be confirmed (`lookups`)."""
        typed = self.cleaned_data["company"]
        self.data = {**self.data, "company": lookups.whole_name(typed)}
        return lookups.find_company(typed)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        # A shipment can only be looked up for a known company.
        if self.of_type is None or "company" not in cleaned:
            return cleaned
        self.read_ticket(cleaned["company"], self.of_type)
        return cleaned

    def find_shipment(self, company: Company, number: str) -> int:
        return lookups.shipment_of_caller(company, number)


def input_field(input_spec: Mapping[str, Any]) -> forms.Field:
    """Make the field of an input of the type; all inputs are optional (decision T14)."""
    label = input_spec.get("label") or input_spec["name"]
    if input_spec["el"] == "select":
        options = input_spec.get("options", ())
        return forms.ChoiceField(
            label=label, required=False, choices=[("", "—"), *((one, one) for one in options)]
        )
    return forms.CharField(label=label, required=False, max_length=LONGEST_TEXT)
