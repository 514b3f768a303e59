"""Forms of the company's page: texts, files, and the words for what services refuse."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any, TypeVar

from django import forms
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from companies.api.rates import is_within_rate
from companies.models import Company
from core.files.kinds import KINDS, MOST_BYTES
from core.files.refusals import FileRefused
from core.values.texts import is_blank
from core.values.zones import active_zone, moment_text
from tickets.changes.appeals import AppealRefused
from tickets.changes.documents import NoSuchDocument
from tickets.changes.files import NewFile
from tickets.changes.text_bounds import TextOfDaySpent, TextRefused
from tickets.changes.uploads import MOST_FORM_BYTES, stored_uploads
from tickets.updating import RatingRefused, TicketClosed

Result = TypeVar("Result")

# Words for refusals; a refused file has words of its own.
REFUSALS: dict[type[Exception], str] = {
    TicketClosed: gettext_noop(
        "The ticket was decided in the meantime, so your answer was not sent. Read the decision"
        " above."
    ),
    AppealRefused: gettext_noop(
        "This decision cannot be appealed any more. Read above where it stands."
    ),
    RatingRefused: gettext_noop("This ticket cannot be rated any more."),
    TextOfDaySpent: gettext_noop(
        "Your company has sent too much text today. Send this after %(time)s."
    ),
    TextRefused: gettext_noop("This ticket has no room for more messages. Open a new ticket."),
    NoSuchDocument: gettext_noop(
        "One of the documents is no longer asked for. Choose the files again."
    ),
}


def files_help() -> str:
    """Return the kinds and the size of files that a form takes."""
    text = gettext("Photos (JPEG, PNG, WebP) or PDF, up to %(size)s together.")
    return text % {"size": filesizeformat(MOST_FORM_BYTES)}


class TextField(forms.CharField):
    """Text whose line ends are one character, as in companies' texts; browsers send CR and LF."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        text = str(super().to_python(value)).replace("\r\n", "\n")
        return "" if is_blank(text) else text


class FilesInput(forms.FileInput):
    """Choice of several files.

    Phones offer camera and files because PDF is among them, and `capture` would leave the camera
    alone. Pictures are listed one by one, because browsers then convert HEIC.
    """

    allow_multiple_selected = True

    def __init__(self) -> None:
        super().__init__({"accept": ",".join(KINDS)})


class FilesField(forms.Field):
    """Several files, which `store_files` examines."""

    widget = FilesInput


class PageForm(forms.Form):
    """Form of the company's page, which `templates/portal/form.html` draws."""

    company: Company
    button: Any
    heading: Any = ""
    most_bytes = MOST_FORM_BYTES
    most_bytes_of_one = MOST_BYTES
    # HTTP status of the page that shows the errors.
    status = 422
    says_optional = True

    @property
    def has_lost_files(self) -> bool:
        """Return whether files came with a form that is drawn again: browsers do not keep them."""
        return bool(self.files)

    def store_files(self, stack: ExitStack) -> list[tuple[str, NewFile]]:
        """Store the files while the stack is open, each with its field, or add an error to it."""
        stored: list[tuple[str, NewFile]] = []
        number = sum(len(uploads) for _, uploads in self.files.lists())
        if number and not is_within_rate(self.company, "upload", number):
            text = gettext("Too many files in a minute. Wait a minute, then send them again.")
            self.add_error("files", text)
            return stored
        for name in self.files:
            try:
                uploads = stored_uploads(self.files.getlist(name), self.company.pk)
                stored += [(name, new) for new in stack.enter_context(uploads)]
            except FileRefused as refusal:
                self.add_error(name if name in self.fields else "files", str(refusal))
        return stored

    def call(self, act: Callable[[], Result]) -> Result | None:
        """Call a service; if it refuses, add an error with its status, and return None."""
        try:
            return act()
        except FileRefused as refusal:
            self.add_error("files", str(refusal))
        except tuple(REFUSALS) as refusal:
            words = next(words for kind, words in REFUSALS.items() if isinstance(refusal, kind))
            wait = getattr(refusal, "wait", 0)
            again = timezone.now() + timedelta(seconds=wait)
            self.status = 429 if wait else 409
            self.add_error(None, gettext(words) % {"time": moment_text(again, active_zone())})
        return None
