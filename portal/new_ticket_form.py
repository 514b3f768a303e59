"""Form of a new ticket on the company's page, built from the rules of its type."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from portal.forms import FilesField, PageForm, TextField, files_help
from portal.opening_form import LONGEST_TEXT, OpeningForm, own_shipment
from portal.visitors import ACTOR
from tickets import opening
from tickets.models import Ticket, TicketType

LONGEST_DOCUMENT_ID = 50
FILE_PREFIX = "file-"


class NewTicketForm(PageForm, OpeningForm):
    """The reference of the type, its inputs, its files, and the message."""

    button = _("Open the ticket")
    status = 400
    # Ticket about the same shipment, which has to be decided first.
    existing: int | None = None
    inputs_are_strict = True
    of_type: TicketType

    text = TextField(
        label=_("What happened?"),
        max_length=LONGEST_TEXT,
        error_messages={"required": _("Say what happened.")},
        widget=forms.Textarea({"rows": 6}),
    )

    def __init__(self, company: Company, of_type: TicketType, **options: Any) -> None:
        super().__init__(**options)
        self.company, self.of_type = company, of_type
        self.fit(of_type)
        if "documents" in self.fields:
            self.fields["documents"].required = False
        for number, spec in enumerate(of_type.files):
            self.fields[f"{FILE_PREFIX}{number}"] = FilesField(
                label=spec["name"],
                required=spec.get("required", False),
                help_text=spec.get("description", ""),
            )
        self.fields["files"] = FilesField(
            label=_("Other files") if of_type.files else _("Photos and files"),
            required=False,
            help_text=files_help(),
        )

    def clean(self) -> None:
        self.read_ticket(self.company, self.of_type)

    def find_shipment(self, company: Company, number: str) -> int:
        shipment_id = own_shipment(company, number.strip())
        if shipment_id is not None:
            return shipment_id
        text = gettext("We know no shipment of yours with this number. Check it with the label.")
        if not self.fields["shipment"].required:
            text += " " + gettext("Or leave this empty, and write the number in your message.")
        raise forms.ValidationError(text, code="unknown")

    def clean_documents(self) -> list[dict[str, str]]:
        """Count files as documents of the type too: few people have links to send."""
        documents = [
            {"field_id": name[:LONGEST_DOCUMENT_ID], "key": name, "type": "file"}
            for field in self.files
            for upload in self.files.getlist(field)
            if (name := self.description_of(field) or upload.name)
        ]
        documents += super().clean_documents()
        if not documents and self.of_type.reference_required:
            text = gettext("Attach at least one file below, or write a line here.")
            raise forms.ValidationError(text, code="required")
        return documents

    def description_of(self, field: str) -> str:
        """Return the type's name for the files of a field; "" for other files."""
        is_named = field.startswith(FILE_PREFIX) and field in self.fields
        return str(self.fields[field].label) if is_named else ""

    def open_ticket(self) -> Ticket | None:
        """Open the ticket, with its files, or add errors, all of them at once, and return None.

        Raises InvalidTicket.
        """
        self.full_clean()
        with ExitStack() as stack:
            stored = self.store_files(stack)
            if self.errors:
                return None
            files = [replace(new, description=self.description_of(name)) for name, new in stored]
            key = self.submission_key(self.company, files)
            fields = {"key": key, "files": files, **self.ticket_fields}
            try:
                return self.call(lambda: opening.open_once(self.company, ACTOR, **fields))
            except opening.TicketExists as refusal:
                self.status, self.existing = 409, refusal.ticket_id
        return None
