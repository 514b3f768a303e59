"""Forms of a ticket's page: an answer, an appeal, a rating."""

from contextlib import ExitStack
from typing import Any

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from core.values.ids import read_id
from portal import answering
from portal.forms import FilesField, PageForm, TextField, files_help
from portal.ticket_contents import read_token
from tickets.statuses import TERMINAL

DOCUMENT = "document-"
LONGEST_TEXT = 200_000
STARS = range(1, 6)
WRONG_STARS = _("Choose one to five stars.")


def star_choices() -> list[tuple[int, str]]:
    return [
        (number, ngettext("%(number)d star", "%(number)d stars", number) % {"number": number})
        for number in STARS
    ]


class TicketForm(PageForm):
    """Form of the page of a ticket, which `ticket_contents.read_ticket` has read."""

    # Last part of the address that it is sent to.
    act: str

    def __init__(self, ticket: Any, **options: Any) -> None:
        super().__init__(auto_id="%s", **options)
        self.ticket, self.company = ticket, ticket.company

    def send(self) -> None:
        """Do what a valid form says. Raises what `PageForm.call` puts into words."""
        raise NotImplementedError


class AnswerForm(TicketForm):
    """Text and files, of which some are documents that we asked for."""

    act = "answer"
    heading = _("Your answer")
    button = _("Send")
    says_optional = False

    def __init__(self, ticket: Any, **options: Any) -> None:
        super().__init__(ticket, **options)
        for document in ticket.missing:
            label = f"{document.name} ({gettext('photo or PDF')})"
            self.fields[f"{DOCUMENT}{document.pk}"] = FilesField(label=label, required=False)
        self.fields["text"] = TextField(
            label=_("Your message"),
            required=False,
            max_length=LONGEST_TEXT,
            widget=forms.Textarea({"data-draft": "", "rows": 4}),
        )
        self.fields["files"] = FilesField(
            label=_("Other files") if ticket.missing else _("Files"),
            required=False,
            help_text=files_help(),
        )

    def clean(self) -> None:
        if not (self.cleaned_data.get("text") or self.files or self.errors):
            self.add_error("text", gettext("Write an answer, or choose a file."))

    def send(self) -> None:
        with ExitStack() as stack:
            # Files of a decided ticket are not even opened.
            stored = [] if self.ticket.status in TERMINAL else self.store_files(stack)
            if self.errors:
                return
            files = [(read_id(name.removeprefix(DOCUMENT)), new) for name, new in stored]
            seen, text = read_token(self.data.get("seen", "")), self.cleaned_data["text"]
            answering.answer(self.company, self.ticket.pk, seen, text, files)


class AppealForm(TicketForm):
    """Appeal of a decision."""

    act = "appeal"
    heading = _("Appeal")
    button = _("Send the appeal")

    text = TextField(
        label=_("Why is the decision wrong? What was overlooked?"),
        max_length=LONGEST_TEXT,
        error_messages={"required": _("Write why the decision is wrong.")},
        widget=forms.Textarea({"data-draft": "", "rows": 4}),
    )

    def send(self) -> None:
        answering.appeal(self.company, self.ticket.pk, self.cleaned_data["text"])


class RatingForm(TicketForm):
    """Stars for a decision."""

    act = "rating"
    heading = _("How did we do?")
    button = _("Send the rating")

    stars = forms.TypedChoiceField(
        label=_("Your rating"),
        choices=star_choices,
        coerce=int,
        widget=forms.RadioSelect,
        error_messages={"required": WRONG_STARS, "invalid_choice": WRONG_STARS},
    )
    comment = TextField(
        label=_("Comment"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({"rows": 4}),
    )

    def send(self) -> None:
        answering.rate(self.company, self.ticket.pk, **self.cleaned_data)
