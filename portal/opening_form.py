"""Form of a new ticket, validated like companies' requests.

Subclasses add the fields of their page: the desk's, and the company's own.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4, uuid5

from django import forms
from django.db.models import F
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.values.spellings import plain_digits
from tickets.api.serializers import OpenTicket
from tickets.changes.files import NewFile
from tickets.models import TicketType
from tickets.rules import is_date, is_web_address

# Form fields by their names in the API.
OF_FIELDS = {
    "type_id": "type",
    "comments": "text",
    "data": "variables",
    "shipment_id": "shipment",
}
OPTIONAL = ("documents", "credit_id", "carrier_id", "warehouse_package_id")
PREFIX = "input-"
# Form fields by the reference of a type.
REFERENCES: dict[str, tuple[str, ...]] = {
    TicketType.Reference.NOTHING: (),
    TicketType.Reference.SHIPMENT: ("shipment",),
    TicketType.Reference.CREDIT: ("credit_id",),
    TicketType.Reference.PACKAGE: ("warehouse_package_id",),
    TicketType.Reference.DOCUMENTS: ("documents",),
}
# Fields of inputs by their `type`; others are plain texts.
INPUTS: dict[str, type[forms.Field]] = {
    "date": forms.DateField,
    "number": forms.DecimalField,
    "email": forms.EmailField,
    "url": forms.URLField,
}
# Within the 64 KiB of the API, whatever the letters.
LONGEST_TEXT = 16_000


class NumberField(forms.CharField):
    """Id as digits; its upper limit is validated with the rules of the API."""

    def to_python(self, value: Any) -> Any:
        text = plain_digits(str(value or "")).strip()
        if not text:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) < 20):
            raise forms.ValidationError(_("Enter a number."), code="invalid")
        return int(text)


class OpeningForm(forms.Form):
    """Form of a new ticket of the type `of_type`; a subclass adds its fields."""

    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    shipment = forms.CharField(
        label=_("Tracking number"),
        required=False,
        max_length=100,
        help_text=_("It is on the label of the parcel."),
    )
    credit_id = NumberField(label=_("Credit number"), required=False)
    warehouse_package_id = forms.CharField(
        label=_("Package number"), required=False, max_length=255
    )
    documents = forms.CharField(
        label=_("Documents"),
        required=False,
        max_length=LONGEST_TEXT,
        help_text=_(
            "Attach their files below. For a link, a date or a number, write a line here:"
            " Contract: https://example.com/contract"
        ),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    references = REFERENCES
    # The inputs of a type are validated by their rules; else all are optional texts.
    inputs_are_strict = False
    longest_input = 1_000
    of_type: TicketType | None = None
    # Arguments of `open_ticket`, if the form is valid.
    ticket_fields: dict[str, Any]

    def fit(self, of_type: TicketType) -> list[str]:
        """Remove the fields that a type does not have, and add its inputs; return their names."""
        wanted = self.references[of_type.reference]
        for name in {one for names in self.references.values() for one in names} - set(wanted):
            del self.fields[name]
        for name in wanted:
            self.fields[name].required = bool(of_type.reference) and of_type.reference_required
        inputs = {f"{PREFIX}{number}": spec for number, spec in enumerate(of_type.inputs)}
        self.fields |= {name: self.input_field(spec) for name, spec in inputs.items()}
        return [*wanted, "text", *inputs]

    def input_field(self, spec: Mapping[str, Any]) -> forms.Field:
        """Make the field of an input of the type; its label is the operator's."""
        required = self.inputs_are_strict and spec["required"]
        options = {"label": spec.get("label") or spec["name"], "required": required}
        if spec["el"] == "select":
            choices = [("", "—"), *((one, one) for one in spec.get("options", ()))]
            return forms.ChoiceField(choices=choices, **options)
        kind = spec.get("type", "") if self.inputs_are_strict else ""
        if kind not in INPUTS:
            return forms.CharField(max_length=self.longest_input, **options)
        field = INPUTS[kind](**options)
        field.widget.input_type = kind
        return field

    def read_ticket(self, company: Company, of_type: TicketType) -> None:
        """Set `ticket_fields` from the fields, or add the errors of the API's rules."""
        cleaned = self.cleaned_data
        body = {"type_id": of_type.pk, "comments": cleaned.get("text", "")}
        optional = {name: cleaned.get(name) for name in OPTIONAL} | {"data": self.as_data()}
        body |= {name: value for name, value in optional.items() if value not in (None, "", [])}
        if number := cleaned.get("shipment"):
            try:
                body["shipment_id"] = self.find_shipment(company, number)
            except forms.ValidationError as error:
                self.show_error("shipment_id", error)
        checked = OpenTicket(data=body)
        if not checked.is_valid():
            for name, errors in checked.errors.items():
                self.show_error(name, " ".join(messages_of(errors)))
        elif not self.errors:
            self.ticket_fields = checked.validated_data

    def find_shipment(self, company: Company, number: str) -> int:
        """Return the id of a company's shipment. Raises ValidationError."""
        raise NotImplementedError

    def clean_documents(self) -> list[dict[str, str]]:
        return documents_of(self.cleaned_data["documents"])

    def show_error(self, name: str, error: Any) -> None:
        """Add an error to its field, or to the form if the type has no such field."""
        field = OF_FIELDS.get(name, name)
        self.add_error(field if field in self.fields else None, error)

    def as_data(self) -> str:
        """Return the variables as JSON: the inputs of the type, then the others; "" if none."""
        cleaned, inputs = self.cleaned_data, self.of_type.inputs if self.of_type else []
        pairs = [
            (input_spec["name"], str(cleaned[f"{PREFIX}{number}"]))
            for number, input_spec in enumerate(inputs)
            if cleaned.get(f"{PREFIX}{number}") not in (None, "")
        ]
        variables: dict[str, str] = {}
        for name, value in [*pairs, *cleaned.get("variables", ())]:
            if name in variables:
                text = gettext('"%(name)s" is given twice.')
                self.show_error("data", text % {"name": name})
            variables[name] = value
        return json.dumps(variables, ensure_ascii=False) if variables else ""

    def submission_key(self, company: Company, files: Sequence[NewFile] = ()) -> UUID:
        """Return the idempotency key: other values or files of a form make another ticket."""
        fields = sorted(map(repr, self.ticket_fields.items()))
        submission = (company.pk, fields, *(one.sha256 for one in files))
        return uuid5(self.cleaned_data["key"], repr(submission))


def own_shipment(company: Company, number: str) -> int | None:
    """Return the id of a company's shipment with this tracking number, in any spelling."""
    own = company.shipments.numbered([number])
    return own.order_by(F("place"), "-pk").values_list("pk", flat=True).first()


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
