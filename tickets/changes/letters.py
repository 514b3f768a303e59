"""Emails to a company about what its ticket needs, in its language (decision N21).

They are rows of the outbox, written in the transaction of a move that needs the company's answer
or of a decision on an appeal. They quote what others wrote, followed by what to do, and where:
each has a link of its own to the ticket on the company's page (decision N31).
"""

import textwrap
import unicodedata
from collections.abc import Callable

from django.conf import settings
from django.utils import timezone, translation
from django.utils.module_loading import import_string
from django.utils.translation import gettext, ngettext

from core.mailing import outbox
from core.mailing.own_address import own_address
from core.values.texts import legible, show_controls
from core.values.zones import moment_text
from shipments.models import Shipment
from tickets.changes.appeals import appeal_until
from tickets.models import Appeal, Automation, Ticket
from tickets.statuses import WAITING_FOR_COMPANY, Status

WIDTH = 76
LONGEST_QUOTE = 4_000
# Unicode categories of control characters and of separators of lines and paragraphs.
BREAKS = ("Cc", "Zl", "Zp")
# Sections of docs/guides/tickets.md: how programs do it.
GUIDE = "/docs/guides/tickets"
RESPOND, APPEAL = f"{GUIDE}#respond-to-our-requests", f"{GUIDE}#appeal"

# Takes a link to the ticket, or "", and returns an email's subject and paragraphs.
Letter = Callable[[str], tuple[str, ...]]


def email_move(ticket: Ticket, reason: str) -> None:
    """Write the email about a move that requests an answer; `reason` is its public text."""
    letters = dict.fromkeys(WAITING_FOR_COMPANY, request_letter) | {
        Status.DECLINED: declined_letter
    }
    if make := letters.get(Status(ticket.status)):
        queue_email(ticket, lambda link: make(ticket, reason, link))


def email_reminder(ticket: Ticket, text: str) -> None:
    """Write the email about a reminder, which is also a comment on the ticket."""

    def reminder_letter(link: str) -> tuple[str, ...]:
        subject = gettext("Reminder: ticket %(ticket)d needs something from you")
        return (subject % {"ticket": ticket.pk}, *request_letter(ticket, text, link)[1:])

    queue_email(ticket, reminder_letter)


def email_appeal_decision(ticket: Ticket, appeal: Appeal) -> None:
    """Write the email about an appeal that has just been decided."""
    queue_email(ticket, lambda link: appeal_letter(ticket, appeal, link))


def gets_emails(ticket: Ticket) -> bool:
    """Return whether the ticket's company gets emails; inactive ones do not (decision N27)."""
    company = ticket.company
    return bool(company.active and company.ticket_emails and company.contact_email)


def queue_email(ticket: Ticket, make: Letter) -> None:
    """Store an email in the outbox, so that agents do not wait for the broker.

    It goes to the ticket's company in its language, with a new link if the company's page is on.
    """
    if not gets_emails(ticket):
        return
    link: str = import_string(settings.TICKET_LINK)(ticket)
    with translation.override(ticket.company.written_language):
        subject, *parts = make(link)
        footer = gettext(
            "You get this email because this is the contact address of %(company)s. If you want no"
            " emails about tickets, ask us to switch them off."
        )
        signature = folded(footer % {"company": plain(ticket.company.name)})
    text = "\n\n".join([*filter(None, parts), "-- \n" + signature]) + "\n"
    outbox.enqueue_mail(ticket.company.contact_email, subject, text, secret=bool(link))


def request_letter(ticket: Ticket, reason: str, link: str) -> tuple[str, ...]:
    return (
        gettext("Ticket %(ticket)d needs something from you") % {"ticket": ticket.pk},
        folded(gettext("Your ticket %(ticket)s waits for an answer from you:") % in_words(ticket)),
        indented(reason),
        *missing_documents(ticket),
        folded(answer_by(ticket)),
        *where_to_answer(
            gettext("Answer here, also from your phone; no password is needed:"), link, RESPOND
        ),
    )


def missing_documents(ticket: Ticket) -> tuple[str, ...]:
    """Return the requested documents that have not come; empty if there are none."""
    missing = ticket.requested_documents.filter(fulfilled_at=None).order_by("pk")
    lines = [f"    {plain(document.name)}" for document in missing]
    return (gettext("These documents are still missing:"), "\n".join(lines)) if lines else ()


def where_to_answer(text: str, link: str, section: str) -> tuple[str, ...]:
    """Return where people answer, and the section of the guide that tells programs."""
    unread = gettext("A reply to this email does not reach the ticket.")
    if link:
        return (*with_link(text, link), folded(unread), for_programs(section))
    elsewhere = gettext(
        "Answer where you opened the ticket, or pass this email on to whoever looks after your"
        " programs."
    )
    return (folded(f"{unread} {elsewhere}"), for_programs(section))


def with_link(text: str, link: str) -> tuple[str, ...]:
    """Return a link on a line of its own, however long it is, and who can use it until when."""
    if not link:
        return ()
    days = settings.LINK_LIFETIME.days
    until = ngettext(
        "It works until %(days)d day after the ticket's last change.",
        "It works until %(days)d days after the ticket's last change.",
        days,
    )
    anybody = gettext("Whoever has this link can read and answer this ticket.")
    return (folded(text), link, folded(f"{anybody} {until % {'days': days}}"))


def for_programs(section: str) -> str:
    if address := own_address():
        return gettext("For programs: %(address)s") % {"address": address + section}
    return gettext("For programs, at the address of the API: %(address)s") % {"address": section}


def answer_by(ticket: Ticket) -> str:
    """Return the deadline for an answer: the claim deadline, or the closing by an automation."""
    last = ticket.filing_due_at
    closing = Automation.objects.filter(kind=Automation.Kind.CLOSE, type=ticket.type_id)
    if last is not None and last >= timezone.now():
        text = gettext(
            "Please answer well before %(time)s: after that the carrier no longer takes the claim."
        )
        return text % {"time": moment_text(last, ticket.company.zone)}
    if closing.filter(active=True).exists():
        return gettext("Without an answer the ticket is declined after a last reminder.")
    return gettext("There is no deadline: the ticket waits until you answer.")


def declined_letter(ticket: Ticket, reason: str, link: str) -> tuple[str, ...]:
    until = gettext(
        "If you think that this is wrong, you can appeal the decision once, until %(time)s. Say"
        " what was overlooked. A lead then looks at the ticket again."
    )
    last = appeal_until(ticket.decided_at or ticket.updated_at)
    return (
        gettext("Ticket %(ticket)d was declined") % {"ticket": ticket.pk},
        folded(gettext("Your ticket %(ticket)s was declined:") % in_words(ticket)),
        indented(reason),
        folded(until % {"time": moment_text(last, ticket.company.zone)}),
        *where_to_answer(
            gettext("Appeal here, also from your phone; no password is needed:"), link, APPEAL
        ),
    )


def appeal_letter(ticket: Ticket, appeal: Appeal, link: str) -> tuple[str, ...]:
    number = {"ticket": ticket.pk}
    read = gettext("Read the ticket here, also on your phone; no password is needed:")
    if appeal.state == Appeal.State.ACCEPTED:
        return (
            gettext("Ticket %(ticket)d: your appeal was accepted") % number,
            folded(gettext("Your appeal of ticket %(ticket)s was accepted.") % in_words(ticket)),
            folded(gettext("The ticket is in review again. There is nothing that you have to do.")),
            *with_link(read, link),
        )
    return (
        gettext("Ticket %(ticket)d: your appeal was refused") % number,
        folded(gettext("Your appeal of ticket %(ticket)s was refused:") % in_words(ticket)),
        indented(appeal.reason),
        folded(gettext("The decision stands, and it cannot be appealed again.")),
        *with_link(read, link),
    )


def in_words(ticket: Ticket) -> dict[str, str]:
    """Return the ticket's number, type and tracking number for use in a sentence."""
    words = [str(ticket.type)]
    if ticket.shipment_id is not None:
        own = Shipment.objects.filter(pk=ticket.shipment_id, company=ticket.company_id)
        words += own.values_list("tracking_number", flat=True)
    return {"ticket": f"{ticket.pk} ({', '.join(map(plain, words))})"}


def folded(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def indented(text: str) -> str:
    """Quote a text by marking each line, so that none can be taken for one of ours."""
    text = legible(text)
    short = text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rstrip() + "…"
    return "\n".join(f"> {plain(line)}".rstrip() for line in short.splitlines())


def plain(text: str) -> str:
    """Return a text as one line; controls of text direction become visible (decision N30)."""
    visible = show_controls(legible(text))
    return "".join(" " if unicodedata.category(one) in BREAKS else one for one in visible)
