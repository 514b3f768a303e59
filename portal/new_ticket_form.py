"""Form of a new ticket on the company's page, built from the rules of its type."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.files.kinds import KINDS
from core.files.refusals import FileRefused
from core.values.texts import is_blank
from portal.opening_form import PREFIX, NumberField, OpeningForm, own_shipment
from tickets.changes.agent_files import MOST_AT_ONCE
from tickets.changes.files import NewFile
from tickets.changes.uploads import stored_uploads
from tickets.models import TicketType

# Within the 64 KiB of the API, whatever the letters.
LONGEST_TEXT = 16_000
LONGEST_VALUE = 1_000
LONGEST_DOCUMENT_ID = 50
FILE_PREFIX = "file-"
# Fields of inputs by their `type`; others are plain texts.
INPUTS: dict[str, type[forms.Field]] = {
    "date": forms.DateField,
    "number": forms.DecimalField,
    "email": forms.EmailField,
    "url": forms.URLField,
}


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files."""

    widget = FilesInput
    default_error_messages = {"empty": _("The file is empty.")}

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        if not data:
            super().clean(None)
        if len(data) > MOST_AT_ONCE:
            text = gettext("Attach at most %(most)d files at a time.") % {"most": MOST_AT_ONCE}
            raise forms.ValidationError(text, code="too_many_files")
        return [super(FilesField, self).clean(one) for one in data]

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {**super().widget_attrs(widget), "accept": ",".join(KINDS)}


class NewTicketForm(OpeningForm):
    """The reference of the type, its inputs, its files, and the message."""

    def __init__(self, company: Company, of_type: TicketType, **options: Any) -> None:
        super().__init__(**options)
        self.company, self.of_type = company, of_type
        if reference := reference_field(of_type):
            self.fields.update(reference)
        self.fields["text"] = forms.CharField(
            label=_("What happened?"),
            max_length=LONGEST_TEXT,
            widget=forms.Textarea(attrs={"rows": 6}),
        )
        for number, spec in enumerate(of_type.inputs):
            self.fields[f"{PREFIX}{number}"] = input_field(spec)
        for number, spec in enumerate(of_type.files):
            self.fields[f"{FILE_PREFIX}{number}"] = FilesField(
                label=spec["name"],
                required=spec.get("required", False),
                help_text=spec.get("description", ""),
            )
        self.fields["files"] = FilesField(
            label=_("Other files") if of_type.files else _("Photos and files"),
            required=False,
            help_text=_("Photos (JPEG, PNG, WebP) or PDF, up to 15 MB together."),
        )

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        if is_blank(text):
            raise forms.ValidationError(gettext("Say what happened."), code="blank")
        return text

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        assert self.of_type is not None  # noqa: S101 - __init__ sets it
        self.read_ticket(self.company, self.of_type)
        return cleaned

    def find_shipment(self, company: Company, number: str) -> int:
        shipment_id = own_shipment(company, number.strip())
        if shipment_id is not None:
            return shipment_id
        text = gettext("We know no shipment of yours with this number. Check it with the label.")
        if not self.fields["shipment"].required:
            text += " " + gettext("Or leave this empty, and write the number in your message.")
        raise forms.ValidationError(text, code="unknown")

    def all_documents(self) -> list[dict[str, str]]:
        """Count files as documents of the type too: few people have links to send."""
        if "documents" not in self.fields:
            return []
        documents = [
            {"field_id": name[:LONGEST_DOCUMENT_ID], "key": name, "type": "file"}
            for _field, label, upload in self.uploads()
            if (name := label or upload.name)
        ]
        documents += super().all_documents()
        assert self.of_type is not None  # noqa: S101 - as above
        if not documents and self.of_type.reference_required:
            text = gettext("Attach at least one file below, or write a line here.")
            raise forms.ValidationError(text, code="required")
        return documents

    def uploads(self) -> Iterator[tuple[str, str, Any]]:
        """Yield each file with its field, and the type's name for it, "" for other files."""
        for name, field in self.fields.items():
            if isinstance(field, FilesField):
                label = "" if name == "files" else str(field.label)
                yield from ((name, label, upload) for upload in self.cleaned_data.get(name, ()))

    def store_files(self, stack: ExitStack) -> list[NewFile]:
        """Store the files while the stack is open, and add an error for each that is refused."""
        stored: list[NewFile] = []
        for name, label, upload in list(self.uploads()):
            try:
                (new,) = stack.enter_context(stored_uploads([upload], self.company.pk))
            except FileRefused as refusal:
                self.add_error(name, str(refusal))
            else:
                stored.append(replace(new, description=label))
        return stored


def reference_field(of_type: TicketType) -> dict[str, forms.Field]:
    """Return the field of a ticket that a type's reference asks for, by its name in the form."""
    required = of_type.reference_required
    match of_type.reference:
        case TicketType.Reference.SHIPMENT:
            help_text = _("It is on the label of the parcel.")
            label = _("Tracking number")
            field = forms.CharField(label=label, max_length=100, help_text=help_text)
            name = "shipment"
        case TicketType.Reference.CREDIT:
            name, field = "credit_id", NumberField(label=_("Number of the credit"))
        case TicketType.Reference.PACKAGE:
            name = "warehouse_package_id"
            field = forms.CharField(label=_("Number of the package"), max_length=255)
        case TicketType.Reference.DOCUMENTS:
            name, required = "documents", False
            field = forms.CharField(
                label=_("Documents"),
                max_length=LONGEST_TEXT,
                help_text=_(
                    "Attach their files below. For a link, a date or a number, write a line here:"
                    " Contract: https://example.com/contract"
                ),
                widget=forms.Textarea(attrs={"rows": 3}),
            )
        case _other:
            return {}
    field.required = required
    return {name: field}


def input_field(spec: Mapping[str, Any]) -> forms.Field:
    """Make the field of an input of the type; its label is the operator's."""
    options = {"label": spec.get("label") or spec["name"], "required": spec["required"]}
    if spec["el"] == "select":
        choices = [("", "—"), *((one, one) for one in spec.get("options", ()))]
        return forms.ChoiceField(choices=choices, **options)
    kind = spec.get("type", "")
    if (made := INPUTS.get(kind)) is None:
        return forms.CharField(max_length=LONGEST_VALUE, **options)
    field = made(**options)
    field.widget.input_type = kind
    return field
