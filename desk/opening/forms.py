"""Form for a caller's ticket, validated like companies' requests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.values.spellings import plain_digits
from desk.common.forms import LONGEST_TEXT, TextField
from desk.opening import lookups
from tickets.api.serializers import OpenTicket
from tickets.changes.files import NewFile
from tickets.models import TicketType
from tickets.rules import is_date, is_web_address

# Fields of a ticket that depend on its type, by the reference of the type.
FIELDS = {
    "": ("shipment", "carrier_id"),
    "guide": ("shipment",),
    "credit": ("credit_id",),
    "warehouse-package": ("warehouse_package_id",),
    "legal-credit": ("documents",),
}
# Form fields by their names in the API.
OF_FIELDS = {
    "type_id": "type",
    "comments": "text",
    "data": "variables",
    "shipment_id": "shipment",
}
PREFIX = "input-"


class NumberField(forms.CharField):
    """Id as digits; its upper limit is validated with the rules of the API."""

    def to_python(self, value: Any) -> Any:
        text = plain_digits(str(value or "")).strip()
        if not text:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) < 20):
            raise forms.ValidationError(_("Enter a number."), code="invalid")
        return int(text)


class NewTicketForm(forms.Form):
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
    key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = list(TicketType.objects.offered())
        choices = [("", gettext("Choose a type")), *((str(one.pk), str(one)) for one in types)]
        self.fields["type"] = forms.ChoiceField(label=_("Type"), choices=choices)
        chosen = self.data.get("type") if self.is_bound else self.initial.get("type")
        self.of_type = next((one for one in types if str(one.pk) == str(chosen)), None)
        self.ticket_fields: dict[str, Any] = {}
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
        body = {"type_id": self.of_type.pk, "comments": cleaned.get("text", "")}
        body |= self.attempt("variables", lambda: self.as_data(cleaned), "data")
        body |= self.attempt("documents", lambda: documents_of(cleaned.get("documents", "")))
        if number := cleaned.get("shipment"):
            company = cleaned["company"]
            body |= self.attempt(
                "shipment", lambda: lookups.shipment_of_caller(company, number), "shipment_id"
            )
        for name in ("credit_id", "carrier_id", "warehouse_package_id"):
            if cleaned.get(name) not in (None, ""):
                body[name] = cleaned[name]
        checked = OpenTicket(data=body)
        if not checked.is_valid():
            for name, errors in checked.errors.items():
                self.show_error(name, " ".join(messages_of(errors)))
        elif not self.errors:
            self.ticket_fields = checked.validated_data
        return cleaned

    def attempt(self, name: str, read: Any, api_name: str = "") -> dict[str, Any]:
        """Read a field as {API name: value}; {} if it is empty or invalid, with an error shown."""
        try:
            value = read()
        except forms.ValidationError as error:
            self.show_error(name, error)
            return {}
        return {api_name or name: value} if value else {}

    def show_error(self, name: str, error: Any) -> None:
        """Add an error to its field, or to the form if the type has no such field."""
        field = OF_FIELDS.get(name, name)
        self.add_error(field if field in self.fields else None, error)

    def as_data(self, cleaned: Mapping[str, Any]) -> str:
        """Return the variables as JSON: the inputs of the type, then the others; "" if none."""
        inputs = self.of_type.inputs if self.of_type else []
        pairs = [
            (input_spec["name"], cleaned[f"{PREFIX}{number}"])
            for number, input_spec in enumerate(inputs)
            if cleaned.get(f"{PREFIX}{number}")
        ]
        pairs += pairs_of(cleaned.get("variables", ""))
        variables: dict[str, str] = {}
        for name, value in pairs:
            if name in variables:
                raise forms.ValidationError(
                    gettext('"%(name)s" is given twice.') % {"name": name}, code="twice"
                )
            variables[name] = value
        return json.dumps(variables, ensure_ascii=False) if variables else ""

    def submission_key(self, files: Sequence[NewFile] = ()) -> UUID:
        """Return the idempotency key: other values or files of a form make another ticket."""
        fields = sorted(map(repr, self.ticket_fields.items()))
        submission = (self.cleaned_data["company"].pk, fields, *(one.sha256 for one in files))
        return uuid5(self.cleaned_data["key"], repr(submission))


def input_field(input_spec: Mapping[str, Any]) -> forms.Field:
    """Make the field of an input of the type; all inputs are optional (decision T14)."""
    label = input_spec.get("label") or input_spec["name"]
    if input_spec["el"] == "select":
        options = input_spec.get("options", ())
        return forms.ChoiceField(
            label=label, required=False, choices=[("", "—"), *((one, one) for one in options)]
        )
    return forms.CharField(label=label, required=False, max_length=LONGEST_TEXT)


def pairs_of(lines: str) -> list[tuple[str, str]]:
    """Parse `name: value` lines. Raises ValidationError, which names the wrong line."""
    pairs = []
    for number, line in enumerate(lines.splitlines(), start=1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not (colon and name.strip()):
            raise forms.ValidationError(
                gettext("Line %(number)d is not written as name: value.") % {"number": number},
                code="no_pair",
            )
        pairs.append((name.strip(), value.strip()))
    return pairs


def documents_of(lines: str) -> list[dict[str, str]]:
    """Parse documents, whose type (file, date or input) follows from the value."""

    def type_of(value: str) -> str:
        return "file" if is_web_address(value) else "date" if is_date(value) else "input"

    return [
        {"field_id": name, "key": name, "type": type_of(value), "value": value}
        for name, value in pairs_of(lines)
    ]


def messages_of(errors: Any) -> list[str]:
    """Collect the messages of a field, however nested."""
    if isinstance(errors, Mapping):
        errors = list(errors.values())
    if isinstance(errors, list):
        return list(dict.fromkeys(text for one in errors for text in messages_of(one)))
    # The API's messages are English; translate them for the reader.
    text = str(errors)
    return [gettext(text) if text else text]
