"""Acts of a company's people on a ticket: answers with files, appeals, ratings.

A form names what its page had shown (`Seen`): what the company has sent since then is not written
twice, so two taps, or Back and Send, are one answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.translation import gettext

from companies.models import Company
from core.files.refusals import FileRefused
from core.values.texts import is_blank
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

REFUSALS = (
    appeals.AppealRefused,
    FileRefused,
    NoSuchDocument,
    RatingRefused,
    TextRefused,
    TicketClosed,
)


class ChosenFile(NamedTuple):
    """File of a form, for a requested document or for none."""

    document: int | None
    new: NewFile


@ticket_service
def answer(
    company: Company, ticket_id: int, seen: Seen, text: str, files: Sequence[ChosenFile]
) -> None:
    """Add files and a text to the company's ticket, all or nothing; what was sent stays as it is.

    A ticket that waits for the company goes to Follow up with a text, or once no document is
    missing. Raises Ticket.DoesNotExist, TicketClosed, FileRefused, NoSuchDocument, TextRefused.
    """
    ticket = company.tickets.hold(ticket_id)
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
        updating.rate(company, ticket_id, rating=stars, comment=comment)
    except RatingRefused as error:
        same = company.tickets.filter(pk=ticket_id, rating__rating=stars, rating__comment=comment)
        if error.code != "already_rated" or not same.exists():
            raise


def refusal(error: Exception) -> tuple[str, str, int]:
    """Return the field of a refusal, its words, and the status of the answer."""
    if isinstance(error, TicketClosed):
        text = gettext(
            "The ticket was decided in the meantime, so your answer was not sent. Read the decision"
            " above."
        )
        return "form", text, 409
    if isinstance(error, appeals.AppealRefused):
        text = gettext("This decision cannot be appealed any more. Read above where it stands.")
        return "form", text, 409
    if isinstance(error, RatingRefused):
        return "form", gettext("This ticket cannot be rated any more."), 409
    if isinstance(error, TextOfDaySpent):
        text = gettext("Your company has sent too much text today. Send this tomorrow.")
        return "text", text, 429
    if isinstance(error, TextRefused):
        text = gettext("This ticket has no room for more messages. Open a new ticket.")
        return "text", text, 422
    if isinstance(error, NoSuchDocument):
        text = gettext("One of the documents is no longer asked for. Choose the files again.")
        return "files", text, 409
    return "files", str(error), 422
