"""Acts of a company's people on a ticket: answers with files, appeals, ratings.

A form names what its page had shown (`Seen`): what the company has sent since then is not written
twice, so two taps, or Back and Send, are one answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from companies.models import Company
from core.files.refusals import FileRefused
from core.values.texts import is_blank, legible
from portal.ticket_contents import Seen
from portal.visitors import ACTOR
from tickets import updating
from tickets.changes import appeals
from tickets.changes.documents import NoSuchDocument, open_requests
from tickets.changes.files import NewFile, add_file
from tickets.changes.news import ticket_service
from tickets.changes.text_bounds import TextOfDaySpent, TextRefused
from tickets.models import Ticket
from tickets.statuses import TERMINAL, WAITING_FOR_COMPANY, By, Status, allows
from tickets.updating import RatingRefused, TicketClosed

# Fields, words and statuses; a refused file has words of its own.
WORDS: dict[type[Exception], tuple[str, str, int]] = {
    TicketClosed: (
        "form",
        gettext_noop(
            "The ticket was decided in the meantime, so your answer was not sent. Read the"
            " decision above."
        ),
        409,
    ),
    appeals.AppealRefused: (
        "form",
        gettext_noop("This decision cannot be appealed any more. Read above where it stands."),
        409,
    ),
    RatingRefused: ("form", gettext_noop("This ticket cannot be rated any more."), 409),
    TextOfDaySpent: (
        "text",
        gettext_noop("Your company has sent too much text today. Send this tomorrow."),
        429,
    ),
    TextRefused: (
        "text",
        gettext_noop("This ticket has no room for more messages. Open a new ticket."),
        422,
    ),
    NoSuchDocument: (
        "files",
        gettext_noop("One of the documents is no longer asked for. Choose the files again."),
        409,
    ),
}
REFUSALS: tuple[type[Exception], ...] = (Ticket.DoesNotExist, FileRefused, *WORDS)


class ChosenFile(NamedTuple):
    """File of a form, for a requested document or for none."""

    document: int | None
    new: NewFile


def hold_ticket(company: Company, ticket_id: int) -> Ticket:
    """Lock the company's ticket. Raises Ticket.DoesNotExist, also if it has been switched off.

    An erasure waits for transactions that are older than the switch, and not for links.
    """
    return company.tickets.filter(company__active=True).hold(ticket_id)


@ticket_service
def answer(
    company: Company, ticket_id: int, seen: Seen, text: str, files: Sequence[ChosenFile]
) -> None:
    """Add files and a text to the company's ticket, all or nothing; what was sent stays as it is.

    A ticket that waits for the company goes to Follow up with a text, or once no document is
    missing. Raises Ticket.DoesNotExist, TicketClosed, FileRefused, NoSuchDocument, TextRefused.
    """
    ticket = hold_ticket(company, ticket_id)
    new_files = [one for one in files if not has_file(ticket, one, seen)]
    sends_text = not is_blank(text) and not has_comment(ticket, text, seen)
    if not new_files and not sends_text and (files or not is_blank(text)):
        return
    if ticket.status in TERMINAL:
        raise TicketClosed
    for one in new_files:
        add_file(company, ticket_id, ACTOR, one.new, requested=one.document)
    if waits(company, ticket_id) and new_files and not open_requests(ticket).exists():
        updating.update_ticket(company, ticket_id, ACTOR, to=Status.FOLLOW_UP)
    if sends_text and waits(company, ticket_id):
        updating.update_ticket(company, ticket_id, ACTOR, to=Status.FOLLOW_UP, text=text)
    elif sends_text:
        updating.comment(company, ticket_id, ACTOR, text)


def waits(company: Company, ticket_id: int) -> bool:
    """Return whether the ticket waits for the company, whose answer brings it back."""
    status = Status(company.tickets.values_list("status", flat=True).get(pk=ticket_id))
    return status in WAITING_FOR_COMPANY and allows(status, Status.FOLLOW_UP, By.COMPANY)


def has_comment(ticket: Ticket, text: str, seen: Seen) -> bool:
    own = ticket.conversation.filter(public=True, by=By.COMPANY, pk__gt=seen.comment)
    return own.filter(text=text).exists()


def has_file(ticket: Ticket, one: ChosenFile, seen: Seen) -> bool:
    own = ticket.files.filter(by=By.COMPANY, pk__gt=seen.file, sha256=one.new.sha256)
    return own.filter(requested_document=one.document).exists()


def appeal(company: Company, ticket_id: int, text: str) -> None:
    """Appeal the ticket's decision; the same text again changes nothing.

    Raises Ticket.DoesNotExist, AppealRefused and TextRefused.
    """
    try:
        with transaction.atomic():
            hold_ticket(company, ticket_id)
            appeals.appeal_decision(company, ticket_id, ACTOR, text)
    except appeals.AppealRefused as error:
        last = company.tickets.get(pk=ticket_id).appeals.order_by("pk").last()
        if error.code != "already_appealed" or last is None or last.comment != text:
            raise


def rate(company: Company, ticket_id: int, stars: int, comment: str) -> None:
    """Rate the ticket's decision; the same rating again changes nothing.

    Raises Ticket.DoesNotExist, RatingRefused and TextRefused.
    """
    try:
        with transaction.atomic():
            hold_ticket(company, ticket_id)
            updating.rate(company, ticket_id, rating=stars, comment=comment)
    except RatingRefused as error:
        same = company.tickets.filter(pk=ticket_id, rating__rating=stars, rating__comment=comment)
        if error.code != "already_rated" or not same.exists():
            raise


def refusal(error: Exception) -> tuple[str, str, int]:
    """Return the field of a refusal, its words, and the status of the answer."""
    kind = next((kind for kind in WORDS if isinstance(error, kind)), None)
    if kind is None:
        return "files", legible(str(error)), 422
    field, text, status = WORDS[kind]
    return field, gettext(text), status
