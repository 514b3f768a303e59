"""Emails that tell a company what its ticket needs, in its language, as rows (decision N21).

A move to a status that waits for the company's answer, and a decision on an appeal, write one in
their transaction. What others wrote is quoted; what to do stands below it.
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
# Control characters, and those that end a line.
BREAKS = ("Cc", "Zl", "Zp")
CURL = """\
    curl -X {method} "$BASE{path}" \\
      -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
      -d '{body}'"""

FILE_CURL = """\
    curl "$BASE{path}" \\
      -H "Authorization: Bearer $TOKEN" \\
      -F file=@FILE -F requested_document={document}"""


def tell_move(ticket: Ticket, reason: str) -> None:
    """Write the email about a move that has just been made, where it asks for an answer.

    `reason` is what the company was told with it.
    """
    letter = {Status.INCOMPLETE: incomplete_letter, Status.DECLINED: declined_letter}
    if (make := letter.get(Status(ticket.status))) and is_written_to(ticket):
        with translation.override(ticket.company.written_language):
            keep(ticket, *make(ticket, reason))


def tell_reminder(ticket: Ticket, text: str) -> None:
    """Write the email about a reminder, which the company reads on the ticket as well."""
    if is_written_to(ticket):
        with translation.override(ticket.company.written_language):
            subject = gettext("Reminder: ticket %(ticket)d needs something from you")
            _, *parts = incomplete_letter(ticket, text)
            keep(ticket, subject % {"ticket": ticket.pk}, *parts)


def tell_appeal_decided(ticket: Ticket, appeal: Appeal) -> None:
    """Write the email about an appeal that has just been decided."""
    if is_written_to(ticket):
        with translation.override(ticket.company.written_language):
            keep(ticket, *appeal_letter(ticket, appeal))


def is_written_to(ticket: Ticket) -> bool:
    """An inactive company could not answer: its tokens are refused (decision N27)."""
    company = ticket.company
    return bool(company.active and company.ticket_emails and company.contact_email)


def keep(ticket: Ticket, subject: str, *parts: str) -> None:
    """The scheduler finds the row within seconds; nobody at the desk waits for the broker."""
    footer = gettext(
        "You get this email because this is the contact address of %(company)s. If you want no"
        " emails about tickets, ask us to switch them off."
    )
    signature = folded(footer % {"company": plain(ticket.company.name)})
    text = "\n\n".join([*filter(None, parts), "-- \n" + signature]) + "\n"
    outbox.keep_mail(ticket.company.contact_email, subject, text)


def incomplete_letter(ticket: Ticket, reason: str) -> tuple[str, ...]:
    answer = gettext("Here is what you asked for.")
    return (
        gettext("Ticket %(ticket)d needs something from you") % {"ticket": ticket.pk},
        folded(gettext("Your ticket %(ticket)s waits for an answer from you:") % in_words(ticket)),
        indented(reason),
        answer_by(ticket),
        where_to_answer(),
        *asking_for_files(ticket),
        gettext("To answer by API, with our address in BASE and your token in TOKEN:"),
        CURL.format(
            method="PUT",
            path=f"/company/tickets/{ticket.pk}",
            body=f'{{"ticket_status_id": {Status.FOLLOW_UP:d}, "comments": "{answer}"}}',
        ),
    )


def asking_for_files(ticket: Ticket) -> tuple[str, ...]:
    """How to send what is asked for by name, if anything is."""
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


def where_to_answer() -> str:
    return folded(
        gettext(
            "A reply to this email does not reach the ticket. Answer where you opened the ticket,"
            " or pass this email on to whoever looks after your programs: what they need stands"
            " below."
        )
    )


def answer_by(ticket: Ticket) -> str:
    """By when to answer: before the carrier's day for claims, or before an automation declines."""
    last = ticket.filing_due_at
    closing = Automation.objects.filter(kind=Automation.Kind.CLOSE, type=ticket.type_id)
    if last is not None and last >= timezone.now():
        text = gettext(
            "Please answer well before %(time)s: after that the carrier no longer takes the claim."
        )
        return folded(text % {"time": moment_text(last, ticket.company.zone)})
    if closing.filter(active=True).exists():
        return folded(gettext("Without an answer the ticket is declined after a last reminder."))
    return folded(gettext("There is no deadline: the ticket waits until you answer."))


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
        where_to_answer(),
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
    """The ticket as a sentence names it: its number, type and tracking number."""
    words = [str(ticket.type)]
    if ticket.shipment_id is not None:
        own = Shipment.objects.filter(pk=ticket.shipment_id, company=ticket.company_id)
        words += own.values_list("tracking_number", flat=True)
    return {"ticket": f"{ticket.pk} ({', '.join(map(plain, words))})"}


def folded(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def indented(text: str) -> str:
    """What somebody wrote, each line marked as theirs, so that none reads like one of ours."""
    text = legible(text)
    short = text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rstrip() + "…"
    return "\n".join(f"> {plain(line)}".rstrip() for line in short.splitlines())


def plain(text: str) -> str:
    """One line without controls: those that turn the direction are shown (decision N30)."""
    visible = show_controls(legible(text))
    return "".join(" " if unicodedata.category(one) in BREAKS else one for one in visible)
