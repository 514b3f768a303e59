"""What an agent enters for a caller, checked as what companies send."""

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

# Which further fields a ticket of a type has, by what the type is about.
FIELDS = {
    "": ("shipment", "carrier_id"),
    "guide": ("shipment",),
    "credit": ("credit_id",),
    "warehouse-package": ("warehouse_package_id",),
    "legal-credit": ("documents",),
}
# The names that the API has for the fields of the form.
OF_FIELDS = {
    "type_id": "type",
    "comments": "text",
    "data": "variables",
    "shipment_id": "shipment",
}
PREFIX = "input-"


class NumberField(forms.CharField):
    """Digits, as the id of something; whether it is too large is asked with all other rules."""

    def to_python(self, value: Any) -> Any:
        text = plain_digits(str(value or "")).strip()
        if not text:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) < 20):
            raise forms.ValidationError(_("Enter a number."), code="invalid")
        return int(text)


class NewTicketForm(forms.Form):
    """The company, the type and all that a ticket of this type may say."""

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
        self.given: dict[str, Any] = {}
        if self.of_type:
            self.fit(self.of_type)

    def fit(self, to: TicketType) -> None:
        """Leave the fields that a ticket of the type has, and add what it asks for."""
        wanted = FIELDS[to.reference]
        for name in {one for names in FIELDS.values() for one in names} - set(wanted):
            del self.fields[name]
        for name in wanted:
            self.fields[name].required = bool(to.reference) and to.reference_required
        for number, asked in enumerate(to.inputs):
            self.fields[f"{PREFIX}{number}"] = input_field(asked)
        text_first = ["company", "type", *wanted, "text"]
        self.order_fields([*text_first, *(f"{PREFIX}{n}" for n in range(len(to.inputs)))])

    def clean_company(self) -> Company:
        """Find the company; fill in and ask about a part of one name alone (`lookups`)."""
        typed = self.cleaned_data["company"]
        self.data = {**self.data, "company": lookups.whole_name(typed)}
        return lookups.find_company(typed)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        # Without a company there is no telling whose shipment it is.
        if self.of_type is None or "company" not in cleaned:
            return cleaned
        body = {"type_id": self.of_type.pk, "comments": cleaned.get("text", "")}
        body |= self.attempt("variables", lambda: self.as_data(cleaned), "data")
        body |= self.attempt("documents", lambda: documents_of(cleaned.get("documents", "")))
        if number := cleaned.get("shipment"):
            of = cleaned["company"]
            body |= self.attempt(
                "shipment", lambda: lookups.shipment_of_caller(of, number), "shipment_id"
            )
        for name in ("credit_id", "carrier_id", "warehouse_package_id"):
            if cleaned.get(name) not in (None, ""):
                body[name] = cleaned[name]
        checked = OpenTicket(data=body)
        if not checked.is_valid():
            for name, errors in checked.errors.items():
                self.tell(name, " ".join(messages_of(errors)))
        elif not self.errors:
            self.given = checked.validated_data
        return cleaned

    def attempt(self, name: str, read: Any, to: str = "") -> dict[str, Any]:
        """What is read from a field, under its name in the API; nothing where it is wrong."""
        try:
            found = read()
        except forms.ValidationError as error:
            self.tell(name, error)
            return {}
        return {to or name: found} if found else {}

    def tell(self, name: str, error: Any) -> None:
        """Show an error at its field, or above all where the type has no such field."""
        field = OF_FIELDS.get(name, name)
        self.add_error(field if field in self.fields else None, error)

    def as_data(self, cleaned: Mapping[str, Any]) -> str:
        """The variables as JSON: what the type asks for, and then the others."""
        inputs = self.of_type.inputs if self.of_type else []
        pairs = [
            (asked["name"], cleaned[f"{PREFIX}{number}"])
            for number, asked in enumerate(inputs)
            if cleaned.get(f"{PREFIX}{number}")
        ]
        pairs += pairs_of(cleaned.get("variables", ""))
        found: dict[str, str] = {}
        for name, value in pairs:
            if name in found:
                raise forms.ValidationError(
                    gettext('"%(name)s" is given twice.') % {"name": name}, code="twice"
                )
            found[name] = value
        return json.dumps(found, ensure_ascii=False) if found else ""

    def submission_key(self, files: Sequence[NewFile] = ()) -> UUID:
        """Names what is sent: other words or files from the same form are another ticket."""
        said = sorted(map(repr, self.given.items()))
        told = (self.cleaned_data["company"].pk, said, *(one.sha256 for one in files))
        return uuid5(self.cleaned_data["key"], repr(told))


def input_field(asked: Mapping[str, Any]) -> forms.Field:
    """A field for something that companies are asked for. None of it is demanded (decision T14)."""
    label = asked.get("label") or asked["name"]
    if asked["el"] == "select":
        options = asked.get("options", ())
        return forms.ChoiceField(
            label=label, required=False, choices=[("", "—"), *((one, one) for one in options)]
        )
    return forms.CharField(label=label, required=False, max_length=LONGEST_TEXT)


def pairs_of(lines: str) -> list[tuple[str, str]]:
    """One `name: value` a line. Raises ValidationError, which names the wrong line."""
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
    """Each with the type that its value has."""

    def type_of(value: str) -> str:
        return "file" if is_web_address(value) else "date" if is_date(value) else "input"

    return [
        {"field_id": name, "key": name, "type": type_of(value), "value": value}
        for name, value in pairs_of(lines)
    ]


def messages_of(errors: Any) -> list[str]:
    """All messages of a field, however deep."""
    if isinstance(errors, Mapping):
        errors = list(errors.values())
    if isinstance(errors, list):
        return list(dict.fromkeys(text for one in errors for text in messages_of(one)))
    # The API's own words are English; here they are those of the reader.
    text = str(errors)
    return [gettext(text) if text else text]
