"""Emails to a company about what needs its answer: one per move, in its language."""

import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from core.mailing import outbox
from core.models import Mail
from shipments.models import Shipment
from tests import builders as build
from tests.moments import moments_in
from tickets import working
from tickets.changes import appeals, letters
from tickets.changes.actors import Actor
from tickets.models import Agent, Automation, FilingRule, Ticket
from tickets.statuses import By, Status
from tickets.working import AgentReply

LANGUAGES = ["en", "es"]
LINK = re.compile(r"^https://\S+/c/k/[\w-]{32}$", re.MULTILINE)
SUBJECTS = {
    ("en", "incomplete"): "Ticket {} needs something from you",
    ("es", "incomplete"): "Ticket {}: nos falta información suya",
    ("en", "declined"): "Ticket {} was declined",
    ("es", "declined"): "El ticket {} fue rechazado",
    ("en", "accepted"): "Ticket {}: your appeal was accepted",
    ("es", "accepted"): "Ticket {}: su apelación fue aceptada",
    ("en", "refused"): "Ticket {}: your appeal was refused",
    ("es", "refused"): "Ticket {}: su apelación fue rechazada",
}
# Phrases of each email, apart from what others wrote.
SAYS = {
    ("en", "incomplete"): (
        "waits for an answer from you:",
        "> Please send:\n> - photo of the box",
        "Answer here, also from your phone; no password is needed:",
    ),
    ("es", "incomplete"): (
        "espera una respuesta de usted:",
        "> Por favor, envíe:\n> - photo of",
        "Responda aquí, también desde su teléfono",
    ),
    ("en", "declined"): ("you can appeal the decision once", "Appeal here"),
    ("es", "declined"): ("puede apelar la decisión una vez", "Apele aquí"),
    ("en", "accepted"): ("is in review again", "There is nothing", "Read the ticket here"),
    ("es", "accepted"): ("de nuevo en revisión", "no tiene que hacer", "Lea el ticket aquí"),
    ("en", "refused"): ("The decision stands", "> The label is not ours.", "Read the ticket here"),
    ("es", "refused"): ("La decisión se mantiene", "> The label is not ours.", "Lea el ticket"),
}
LINK_WORDS = {
    "en": "Whoever has this link can read and answer this ticket. It works until 60 days after",
    "es": "Quien tenga este enlace puede leer y responder este ticket. Funciona hasta 60 días",
}
FOOTER = {"en": "You get this email because", "es": "Recibe este correo porque"}


@pytest.fixture(autouse=True)
def address(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://desk.acme.example"


@pytest.fixture
def company(company: Company) -> Company:
    company.contact_email = "dev@acme.example"
    company.save()
    return company


@pytest.fixture
def ticket(company: Company) -> Ticket:
    shipment = build.shipment(company, tracking_number="TRACK-7")
    return build.ticket(company, type_id=5, shipment_id=shipment.pk, status=Status.IN_REVIEW)


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead."""
    return build.agent("eve", group="lead").user


def text_of(letter: Mail) -> str:
    """Return the text of an email, which is encrypted if it has a link."""
    return letter.secret_text or letter.text


def incomplete(ticket: Ticket, eve: User, **more: Any) -> None:
    options = {"reason": "We cannot see it.", "requested": ["photo of the box"], **more}
    working.move(ticket.pk, Status.INCOMPLETE, user=eve, **options)


def declined(ticket: Ticket, eve: User) -> None:
    working.move(ticket.pk, Status.DECLINED, user=eve, reason="It is not damaged.")


def appealed(ticket: Ticket, eve: User) -> None:
    """Decline it by another lead, so that eve may decide, and appeal."""
    declined(ticket, build.agent("kim", group="lead").user)
    appeals.appeal_decision(ticket.company, ticket.pk, Actor(By.COMPANY), "Look again.")
    Mail.objects.all().delete()


def accepted(ticket: Ticket, eve: User) -> None:
    appealed(ticket, eve)
    working.decide_appeal(ticket.pk, accept=True, user=eve, reason="For agents only.")


def refused(ticket: Ticket, eve: User) -> None:
    appealed(ticket, eve)
    working.decide_appeal(ticket.pk, accept=False, user=eve, reason="The label is not ours.")


def claims_end(*, days: int) -> datetime:
    """Let the carrier stop taking claims `days` from now; return when."""
    shipped_at = timezone.now() - timedelta(days=30 - days)
    FilingRule.objects.create(type_id=5, days=30)
    Shipment.objects.update(shipped_at=shipped_at)
    return shipped_at + timedelta(days=30)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("act", [incomplete, declined, accepted, refused])
def test_one_email_says_what_happened_in_the_company_s_language(
    company: Company, ticket: Ticket, eve: User, act: Any, language: str
) -> None:
    Company.objects.update(language=language)

    act(ticket, eve)

    letter = Mail.objects.get()
    what = (language, act.__name__)
    assert letter.address == "dev@acme.example"
    assert letter.subject == SUBJECTS[what].format(ticket.pk)
    whole = text_of(letter)
    text = " ".join(whole.split())
    damaged = {"en": "damaged", "es": "daño"}[language]
    assert f"{ticket.pk} ({damaged}, TRACK-7)" in text
    for words in SAYS[what]:
        assert " ".join(words.split()) in text
    assert LINK_WORDS[language] in text
    assert FOOTER[language] in text
    assert "For agents only." not in text
    assert "curl" not in text
    assert max(map(len, whole.splitlines())) <= 100
    assert outbox.send_due() == 1


def test_a_company_without_a_language_gets_that_of_the_deployment(
    ticket: Ticket, eve: User, settings: Settings
) -> None:
    settings.DESK_LANGUAGE = "es"

    declined(ticket, eve)

    assert Mail.objects.get().subject == SUBJECTS["es", "declined"].format(ticket.pk)


@pytest.mark.parametrize("act", [incomplete, declined, accepted, refused])
def test_its_link_opens_the_ticket_and_is_on_a_line_of_its_own(
    client: Client, ticket: Ticket, eve: User, act: Any, settings: Settings
) -> None:
    settings.PUBLIC_URL = f"https://{'long-name.' * 12}example.com"

    act(ticket, eve)

    letter = Mail.objects.get()
    assert (letter.text, LINK.search(letter.subject)) == ("", None)
    (link,) = LINK.findall(text_of(letter))
    assert text_of(letter).count("/c/k/") == 1
    answer = client.get(urlsplit(link).path)
    assert (answer.status_code, answer["Location"]) == (302, f"/c/tickets/{ticket.pk}")


def test_each_email_has_a_link_of_its_own(ticket: Ticket, eve: User) -> None:
    incomplete(ticket, eve)
    declined(ticket, eve)

    first, second = (LINK.findall(text_of(mail)) for mail in Mail.objects.order_by("created_at"))
    assert first != second
    assert ticket.links.count() == 2


def test_a_link_goes_when_the_move_does_not_come_about(ticket: Ticket, eve: User) -> None:
    with transaction.atomic():
        incomplete(ticket, eve)
        assert ticket.links.exists()
        transaction.set_rollback(True)

    assert not ticket.links.exists()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("act", "section"), [(incomplete, "respond-to-our-requests"), (declined, "appeal")]
)
def test_programs_find_their_part_of_the_guide(
    client: Client, ticket: Ticket, eve: User, act: Any, section: str, language: str
) -> None:
    Company.objects.update(language=language)

    act(ticket, eve)

    (address,) = re.findall(
        r"^\S[^:\n]*: (https://\S+)$", text_of(Mail.objects.get()), re.MULTILINE
    )
    assert address == f"https://desk.acme.example/docs/guides/tickets#{section}"
    page = client.get(urlsplit(address).path).content.decode()
    assert f'id="{section}"' in page


@pytest.mark.parametrize(
    ("off", "guide"),
    [
        ({"COMPANY_PAGE": False}, "https://desk.acme.example/docs/guides/tickets#"),
        ({"PUBLIC_URL": "", "ALLOWED_HOSTS": ["*"]}, ": /docs/guides/tickets#"),
    ],
)
@pytest.mark.parametrize("act", [incomplete, declined, accepted, refused])
def test_without_the_page_it_says_where_else_to_answer(
    ticket: Ticket, eve: User, settings: Settings, act: Any, off: dict[str, Any], guide: str
) -> None:
    for name, value in off.items():
        setattr(settings, name, value)

    act(ticket, eve)

    letter = Mail.objects.get()
    text = " ".join(letter.text.split())
    assert letter.secret_text is None
    assert "Answer where you opened the ticket" in text or act in (accepted, refused)
    assert guide in text or act in (accepted, refused)
    assert "link" not in text
    assert not ticket.links.exists()


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_names_each_document_that_is_missing(ticket: Ticket, eve: User, language: str) -> None:
    Company.objects.update(language=language)
    names = ["Photo", "Bill\nof $(x)"]
    working.move(ticket.pk, Status.INCOMPLETE, user=eve, reason="x", requested=names)

    assert "\n    Photo\n    Bill of $(x)\n" in text_of(Mail.objects.get())

    Mail.objects.all().delete()
    ticket.requested_documents.filter(name="Photo").update(fulfilled_at=timezone.now())
    ticket.refresh_from_db()
    letters.email_reminder(ticket, "Please.")
    reminder = Mail.objects.get()
    assert str(ticket.pk) in reminder.subject
    assert ":\n\n    Bill of $(x)\n" in text_of(reminder)
    assert LINK.search(text_of(reminder))


@pytest.mark.parametrize("language", LANGUAGES)
def test_email_names_the_deadline(ticket: Ticket, eve: User, language: str) -> None:
    Company.objects.update(language=language, time_zone="America/Mexico_City")
    last = claims_end(days=9)

    incomplete(ticket, eve)
    declined(ticket, eve)

    request_text, decision_text = map(text_of, Mail.objects.order_by("created_at"))
    ticket.refresh_from_db()
    assert ticket.decided_at is not None
    until = ticket.decided_at + timedelta(days=30)
    for text, at in ((request_text, last), (decision_text, until)):
        (moment,) = moments_in(" ".join(text.split()), language)
        assert moment == at.replace(second=0, microsecond=0)
        assert "A reply to this" in text or "Una respuesta a este" in text


def test_passed_deadline_is_not_mentioned(ticket: Ticket, eve: User) -> None:
    claims_end(days=-1)

    incomplete(ticket, eve)

    assert "There is no deadline" in text_of(Mail.objects.get())


@pytest.mark.parametrize(
    ("type_id", "says"),
    [(5, "the ticket is declined after a last reminder"), (4, "There is no deadline")],
)
def test_email_announces_the_automation_of_its_type(
    ticket: Ticket, eve: User, type_id: int, says: str
) -> None:
    Automation.objects.create(kind=Automation.Kind.CLOSE, type_id=type_id, active=True)

    incomplete(ticket, eve)

    assert says in " ".join(text_of(Mail.objects.get()).split())


@pytest.mark.parametrize(
    "spared", [{"contact_email": ""}, {"ticket_emails": False}, {"active": False}]
)
def test_company_without_address_or_consent_gets_no_email(
    ticket: Ticket, eve: User, spared: dict[str, Any]
) -> None:
    Company.objects.update(**spared)

    incomplete(ticket, eve)
    refused(ticket, eve)

    assert not Mail.objects.exists()
    assert not ticket.links.exists()


@pytest.mark.parametrize("to", [Status.ACCEPTED, Status.IN_REVIEW])
def test_move_without_need_for_an_answer_sends_no_email(
    ticket: Ticket, agent: Agent, to: Status
) -> None:
    Ticket.objects.update(status=Status.PENDING)

    working.move(ticket.pk, to, user=agent.user, reason="Fine.")
    working.answer(AgentReply(ticket_id=ticket.pk, user=agent.user, text="Hello.", public=True))

    assert not Mail.objects.exists()


def test_refused_move_sends_no_email(ticket: Ticket, eve: User) -> None:
    with pytest.raises(working.MoveRefused):
        working.move(ticket.pk, Status.DECLINED, user=eve, reason="")

    assert not Mail.objects.exists()


def test_foreign_text_is_quoted_line_by_line(company: Company, ticket: Ticket, eve: User) -> None:
    Company.objects.update(name="Acme\r\nBcc: all@acme.example\u2028To: x")
    evil = (
        "gpj.\u202eexe\r\nSubject: paid\x1b[31m\n.\n-- \nTo answer by API:\u2028curl evil\x85rm -rf"
    )

    incomplete(ticket, eve, reason=evil)

    letter = Mail.objects.get()
    assert letter.subject == f"Ticket {ticket.pk} needs something from you"
    text = text_of(letter)
    quoted = [line for line in text.splitlines() if line.startswith(">")]
    assert quoted[:7] == [
        "> gpj.[U+202E]exe",
        "> Subject: paid [31m",
        "> .",
        "> --",
        "> To answer by API:",
        "> curl evil",
        "> rm -rf",
    ]
    assert not re.search("^(Subject|Bcc|curl|rm)", text, re.MULTILINE)
    assert outbox.send_due() == 1
    (message,) = mail.outbox
    assert message.message()["Subject"] == letter.subject
    assert message.message()["Bcc"] is None


def test_invalid_address_gets_nothing_and_stops_no_other_email(
    company: Company, ticket: Ticket, eve: User
) -> None:
    Company.objects.update(contact_email="dev@acme.example\nBcc: all@acme.example")
    incomplete(ticket, eve)
    outbox.enqueue_mail("ops@birch.example", "Letter", "Text")

    assert outbox.send_due() == 1

    assert [letter.to for letter in mail.outbox] == [["ops@birch.example"]]


def test_a_long_text_is_cut(ticket: Ticket, eve: User) -> None:
    incomplete(ticket, eve, reason="word " * 4_000)

    assert letters.LONGEST_QUOTE < len(text_of(Mail.objects.get())) < letters.LONGEST_QUOTE + 2_000
