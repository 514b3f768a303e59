"""Acts of a company's people on a ticket: answers with files, appeals, ratings.

A form names what its page had shown (`Seen`): what the company has sent since then is not written
twice, so two taps, or Back and Send, are one answer.
"""

from collections.abc import Sequence

from django.db import transaction

from companies.models import Company
from core.values.texts import is_blank
from portal.ticket_contents import Seen
from portal.visitors import ACTOR
from tickets import updating
from tickets.changes import appeals
from tickets.changes.documents import open_requests
from tickets.changes.files import NewFile, add_file
from tickets.changes.news import ticket_service
from tickets.models import Appeal, Rating, Ticket
from tickets.statuses import TERMINAL, WAITING_FOR_COMPANY, By, Status, allows
from tickets.updating import TicketClosed

# Id of a requested document, or None, and its file.
ChosenFile = tuple[int | None, NewFile]


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
    for document, new in new_files:
        add_file(company, ticket_id, ACTOR, new, requested=document)
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


def has_file(ticket: Ticket, chosen: ChosenFile, seen: Seen) -> bool:
    document, new = chosen
    own = ticket.files.filter(by=By.COMPANY, pk__gt=seen.file, sha256=new.sha256)
    return own.filter(requested_document=document).exists()


@transaction.atomic
def appeal(company: Company, ticket_id: int, text: str) -> None:
    """Appeal the ticket's decision; the same text again changes nothing.

    Raises Ticket.DoesNotExist, AppealRefused and TextRefused.
    """
    ticket = hold_ticket(company, ticket_id)
    same = ticket.appeals.filter(state=Appeal.State.PENDING, comment=text)
    if not same.exists():
        appeals.appeal_decision(company, ticket_id, ACTOR, text)


@transaction.atomic
def rate(company: Company, ticket_id: int, stars: int, comment: str) -> None:
    """Rate the ticket's decision; the same rating again changes nothing.

    Raises Ticket.DoesNotExist, RatingRefused and TextRefused.
    """
    ticket = hold_ticket(company, ticket_id)
    if not Rating.objects.filter(ticket=ticket, rating=stars, comment=comment).exists():
        updating.rate(company, ticket_id, rating=stars, comment=comment)
