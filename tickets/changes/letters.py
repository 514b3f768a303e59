"""Emails to a company about what its ticket needs, in its language (decision N21).

They are rows of the outbox, written in the transaction of a move that needs the company's answer
or of a decision on an appeal. They quote what others wrote, followed by what to do.
"""

import textwrap
import unicodedata

from django.utils import timezone, translation
from django.utils.translation import gettext

from core.mailing import outbox
from core.values.texts import legible, show_controls
from core.values.zones import moment_text
from shipments.models import Shipment
from tickets.changes.appeals import appeal_until
from tickets.models import Appeal, Automation, Ticket
from tickets.statuses import Status

WIDTH = 76
LONGEST_QUOTE = 4_000
# Unicode categories of control characters and of separators of lines and paragraphs.
BREAKS = ("Cc", "Zl", "Zp")
CURL = """\
    curl -X {method} "$BASE{path}" \\
      -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
      -d '{body}'"""

FILE_CURL = """\
    curl "$BASE{path}" \\
      -H "Authorization: Bearer $TOKEN" \\
      -F file=@FILE -F requested_document={document}"""


def email_move(ticket: Ticket, reason: str) -> None:
    """Write the email about a move that requests an answer; `reason` is its public text."""
    letter = {Status.INCOMPLETE: incomplete_letter, Status.DECLINED: declined_letter}
    if (make := letter.get(Status(ticket.status))) and gets_emails(ticket):
        with translation.override(ticket.company.written_language):
            queue_email(ticket, *make(ticket, reason))


def email_reminder(ticket: Ticket, text: str) -> None:
    """Write the email about a reminder, which is also a comment on the ticket."""
    if gets_emails(ticket):
        with translation.override(ticket.company.written_language):
            subject = gettext("Reminder: ticket %(ticket)d needs something from you")
            _, *parts = incomplete_letter(ticket, text)
            queue_email(ticket, subject % {"ticket": ticket.pk}, *parts)


def email_appeal_decision(ticket: Ticket, appeal: Appeal) -> None:
    """Write the email about an appeal that has just been decided."""
    if gets_emails(ticket):
        with translation.override(ticket.company.written_language):
            queue_email(ticket, *appeal_letter(ticket, appeal))


def gets_emails(ticket: Ticket) -> bool:
    """Return whether the ticket's company gets emails; inactive ones do not (decision N27)."""
    company = ticket.company
    return bool(company.active and company.ticket_emails and company.contact_email)


def queue_email(ticket: Ticket, subject: str, *parts: str) -> None:
    """Store an email in the outbox, so that agents do not wait for the broker."""
    footer = gettext(
        "You get this email because this is the contact address of %(company)s. If you want no"
        " emails about tickets, ask us to switch them off."
    )
    signature = folded(footer % {"company": plain(ticket.company.name)})
    text = "\n\n".join([*filter(None, parts), "-- \n" + signature]) + "\n"
    outbox.enqueue_mail(ticket.company.contact_email, subject, text)


def incomplete_letter(ticket: Ticket, reason: str) -> tuple[str, ...]:
    answer = gettext("Here is what you asked for.")
    return (
        gettext("Ticket %(ticket)d needs something from you") % {"ticket": ticket.pk},
        folded(gettext("Your ticket %(ticket)s waits for an answer from you:") % in_words(ticket)),
        indented(reason),
        folded(answer_by(ticket)),
        reply_notice(),
        *file_instructions(ticket),
        gettext("To answer by API, with our address in BASE and your token in TOKEN:"),
        CURL.format(
            method="PUT",
            path=f"/company/tickets/{ticket.pk}",
            body=f'{{"ticket_status_id": {Status.FOLLOW_UP:d}, "comments": "{answer}"}}',
        ),
    )


def file_instructions(ticket: Ticket) -> tuple[str, ...]:
    """Return instructions to send the requested documents; empty if there are none."""
    missing = list(ticket.requested_documents.filter(fulfilled_at=None).order_by("pk"))
    if not missing:
        return ()
    text = gettext(
        "To send a file by API, name the document that it is by its number. With the last of them"
        " the ticket goes on by itself."
    )
    path = f"/company/tickets/{ticket.pk}/files"
    return (
        folded(text),
        "\n".join(f"    {one.pk}  {plain(one.name)}" for one in missing),
        FILE_CURL.format(path=path, document=missing[0].pk),
    )


def reply_notice() -> str:
    return folded(
        gettext(
            "A reply to this email does not reach the ticket. Answer where you opened the ticket,"
            " or pass this email on to whoever looks after your programs: what they need stands"
            " below."
        )
    )


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


def declined_letter(ticket: Ticket, reason: str) -> tuple[str, ...]:
    text = gettext("This is why the decision is wrong.")
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
        reply_notice(),
        gettext("To appeal by API, with our address in BASE and your token in TOKEN:"),
        CURL.format(
            method="POST",
            path=f"/company/tickets/{ticket.pk}/appeal",
            body=f'{{"comment": "{text}"}}',
        ),
    )


def appeal_letter(ticket: Ticket, appeal: Appeal) -> tuple[str, ...]:
    number = {"ticket": ticket.pk}
    if appeal.state == Appeal.State.ACCEPTED:
        return (
            gettext("Ticket %(ticket)d: your appeal was accepted") % number,
            folded(gettext("Your appeal of ticket %(ticket)s was accepted.") % in_words(ticket)),
            folded(gettext("The ticket is in review again. There is nothing that you have to do.")),
        )
    return (
        gettext("Ticket %(ticket)d: your appeal was refused") % number,
        folded(gettext("Your appeal of ticket %(ticket)s was refused:") % in_words(ticket)),
        indented(appeal.reason),
        folded(gettext("The decision stands, and it cannot be appealed again.")),
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
