"""Page of a ticket: what a company reads there, and what it can do (decision N31)."""

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from core.api.minute_counter import counter
from portal import answering, conversation, ticket_contents
from tests import builders as build
from tests import files
from tests.portal.conftest import Enter, csrf_of
from tests.tickets.racing import in_order, racers
from tickets import working
from tickets.changes import decisions
from tickets.changes import files as ticket_files
from tickets.changes.decisions import Decision
from tickets.models import (
    Agent,
    Automation,
    Comment,
    FilingRule,
    HistoryEntry,
    ReasonCode,
    Ticket,
    TicketFile,
    UnfinishedFile,
)
from tickets.money import Amounts
from tickets.statuses import FOLLOWED_UP_BY_COMMENT, OPEN, WAITING_FOR_COMPANY, Status

CANARIES = ("nobody may read this", "adalovelace", "secret-plan", "Lovelace", "Birch", "5e5e5e5e")
LANGUAGES = ("en", "es")
STATUS_WORDS = {
    ("en", Status.PENDING): ("Pending", "We are working on it"),
    ("en", Status.ACCEPTED): ("Accepted", "The ticket was accepted"),
    ("en", Status.DECLINED): ("Declined", "The ticket was declined"),
    ("en", Status.INCOMPLETE): ("Incomplete", "We need something from you"),
    ("en", Status.FOLLOW_UP): ("Follow up", "We are working on it"),
    ("en", Status.IN_REVIEW): ("In review", "We are working on it"),
    ("en", Status.CLAIM_IN_REVIEW): ("Claim in review", "We are working on it"),
    ("es", Status.PENDING): ("Pendiente", "Estamos trabajando en su ticket"),
    ("es", Status.ACCEPTED): ("Aceptado", "El ticket fue aceptado"),
    ("es", Status.DECLINED): ("Rechazado", "El ticket fue rechazado"),
    ("es", Status.INCOMPLETE): ("Incompleto", "Nos falta información suya"),
    ("es", Status.FOLLOW_UP): ("Seguimiento", "Estamos trabajando en su ticket"),
    ("es", Status.IN_REVIEW): ("En revisión", "Estamos trabajando en su ticket"),
    ("es", Status.CLAIM_IN_REVIEW): ("Reclamo en revisión", "Estamos trabajando en su ticket"),
}


@pytest.fixture
def company(db: None) -> Company:
    return build.company("Café Altura ☕", time_zone="America/Mexico_City")


@pytest.fixture
def eve(db: None) -> Agent:
    lead = build.agent("adalovelace", group="lead")
    lead.user.first_name, lead.user.last_name = "Ada", "Lovelace"
    lead.user.save()
    return lead


@pytest.fixture
def ticket(company: Company) -> Ticket:
    shipment = build.shipment(company, tracking_number="GUÍA-7", carrier_name="redpack")
    return build.ticket(
        company, type_id=5, shipment_id=shipment.pk, status=Status.IN_REVIEW, comments="Llegó roto."
    )


@pytest.fixture(autouse=True)
def own_minute() -> Iterator[None]:
    """Count from nothing, and let no other test count for this one."""
    blind, counter.blind_until = counter.blind_until, float("inf")
    yield
    counter.blind_until = blind


def ask(ticket: Ticket, eve: Agent, *documents: str, reason: str = "No se ve.") -> None:
    working.move(
        ticket.pk, Status.INCOMPLETE, user=eve.user, reason=reason, requested=list(documents)
    )


def decline(ticket: Ticket, eve: Agent, reason: str = "No está dañado.") -> None:
    working.move(ticket.pk, Status.DECLINED, user=eve.user, reason=reason)


def page(client: Client, ticket: Ticket, **query: object) -> str:
    answer = client.get(f"/c/tickets/{ticket.pk}", query)
    assert answer.status_code == 200
    return text_of(answer)


def text_of(answer: Any) -> str:
    return html.unescape(re.sub(r"\s+", " ", answer.content.decode()))


def send(client: Client, ticket: Ticket, to: str = "answer", **fields: Any) -> Any:
    """Post a form of the page that the client was shown last."""
    form = {"csrf": csrf_of(client), "seen": ticket_contents.read_state(ticket.company, ticket.pk)}
    return client.post(f"/c/tickets/{ticket.pk}/{to}", {**form, **fields})


def photo(name: str = "caja.jpg", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, files.photo() if content is None else content)


def status_of(ticket: Ticket) -> Status:
    return Status(Ticket.objects.get(pk=ticket.pk).status)


def document_of(ticket: Ticket, name: str) -> str:
    return f"document-{ticket.requested_documents.get(name=name).pk}"


def left_nothing(ticket: Ticket) -> bool:
    rows = (Comment, TicketFile, UnfinishedFile)
    return not any(model.objects.exists() for model in rows) and not ticket.history.exists()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_said_in_the_reader_s_language(
    by_session: Enter, ticket: Ticket, language: str, status: Status
) -> None:
    Ticket.objects.update(status=status, decided_at=timezone.now())
    client = by_session(ticket.company, language=language)

    shown = page(client, ticket)

    label, heading = STATUS_WORDS[language, status]
    assert f'class="state {status.row.colour}">{label}<' in shown
    assert f"<h2>{heading}</h2>" in shown
    assert f"#{ticket.pk}" in shown
    assert "GUÍA-7" in shown
    assert "redpack" in shown
    assert "Café Altura ☕" in shown
    assert "Llegó roto." in shown
    assert ("/answer" in shown) == (status in OPEN)
    assert ("/appeal" in shown) == (status == Status.DECLINED)
    assert ("/rating" in shown) == (status not in OPEN)


@pytest.mark.parametrize("language", LANGUAGES)
def test_incomplete_says_what_is_missing_and_until_when(
    by_link: Enter, ticket: Ticket, eve: Agent, language: str
) -> None:
    ask(ticket, eve, "Factura", "Foto de la caja")
    due = timezone.now() + timedelta(days=3)
    Ticket.objects.update(filing_due_at=due)
    Company.objects.update(language=language)

    shown = page(by_link(ticket), ticket)

    assert "No se ve." in shown
    labels = re.findall(r'<label for="document-[0-9]+"><bdi>([^<(]+) \(', shown)
    assert labels == ["Factura", "Foto de la caja"]
    assert f'name="{document_of(ticket, "Factura")}" accept="image/jpeg,image/png' in shown
    assert ("(hora del centro)" if language == "es" else "(Central Time)") in shown
    day = due.astimezone(ticket.company.zone).day
    assert re.search(rf"\b{day} (de )?\w+", shown)


def test_without_a_deadline_the_page_says_what_happens(
    by_link: Enter, ticket: Ticket, eve: Agent
) -> None:
    ask(ticket, eve)
    FilingRule.objects.all().delete()
    Ticket.objects.update(filing_due_at=None)
    Automation.objects.update(active=False)
    client = by_link(ticket)
    assert "There is no deadline" in page(client, ticket)

    Automation.objects.update_or_create(
        kind=Automation.Kind.CLOSE, type_id=ticket.type_id, defaults={"active": True}
    )

    assert "declined after a last reminder" in page(client, ticket)


def test_a_photo_answers_an_incomplete_ticket_from_the_link_of_the_email(
    by_link: Enter, ticket: Ticket, eve: Agent
) -> None:
    ask(ticket, eve, "Factura", "Foto de la caja")
    client = by_link(ticket)
    page(client, ticket)

    first = send(client, ticket, **{document_of(ticket, "Factura"): photo("factura.jpg")})

    assert first.status_code == 303
    assert status_of(ticket) == Status.INCOMPLETE
    assert "We still need what is asked for below." in text_of(client.get(first["Location"]))

    last = send(client, ticket, **{document_of(ticket, "Foto de la caja"): photo()})

    assert status_of(ticket) == Status.FOLLOW_UP
    shown = text_of(client.get(last["Location"]))
    assert f"Ticket {ticket.pk} is with us again." in shown
    assert "caja.jpg" in shown
    assert "factura.jpg" in shown
    assert {entry.actor for entry in HistoryEntry.objects.filter(by="company")} == {"page"}
    # The notice goes once anything has changed.
    working.write(ticket.pk, "Gracias.", user=eve.user, public=True)
    assert "is with us again" not in text_of(client.get(last["Location"]))


@pytest.mark.parametrize(
    ("documents", "sent", "after"),
    [
        ((), {"text": "La caja venía abierta."}, Status.FOLLOW_UP),
        (("Factura",), {"text": "No tengo factura."}, Status.FOLLOW_UP),
        (("Factura",), {"text": "Gracias."}, Status.INCOMPLETE),
        ((), {"text": "Listo", "files": ["caja.jpg"]}, Status.FOLLOW_UP),
        ((), {"files": ["caja.jpg"]}, Status.FOLLOW_UP),
        (("Factura",), {"files": ["caja.jpg"]}, Status.INCOMPLETE),
    ],
)
def test_an_answer_brings_back_a_ticket_that_waits(
    by_session: Enter,
    ticket: Ticket,
    eve: Agent,
    documents: tuple[str, ...],
    sent: dict[str, Any],
    after: Status,
) -> None:
    ask(ticket, eve, *documents)
    client = by_session(ticket.company)
    chosen = {"files": [photo(name) for name in sent["files"]]} if "files" in sent else {}

    assert send(client, ticket, **{**sent, **chosen}).status_code == 303

    assert status_of(ticket) == after
    assert ticket.files.count() == len(sent.get("files", ()))
    texts = ticket.conversation.filter(by="company").values_list("text", flat=True)
    assert list(texts) == [sent["text"] for _ in range("text" in sent)]


@pytest.mark.parametrize("status", sorted(OPEN - WAITING_FOR_COMPANY))
def test_any_open_ticket_takes_an_answer(by_session: Enter, ticket: Ticket, status: Status) -> None:
    Ticket.objects.update(status=status)

    assert send(by_session(ticket.company), ticket, text="Falta una taza.").status_code == 303

    comment = Comment.objects.get()
    assert (comment.text, comment.by, comment.actor) == ("Falta una taza.", "company", "page")
    moved = status in FOLLOWED_UP_BY_COMMENT
    assert status_of(ticket) == (Status.FOLLOW_UP if moved else status)


def test_what_was_sent_already_is_not_written_twice(
    by_session: Enter, ticket: Ticket, eve: Agent
) -> None:
    ask(ticket, eve, "Factura")
    client = by_session(ticket.company)
    seen = ticket_contents.read_state(ticket.company, ticket.pk)
    field = document_of(ticket, "Factura")

    for _ in range(2):
        form = {"seen": seen, "text": "Aquí está.\r\nGracias.", field: photo()}
        assert send(client, ticket, **form).status_code == 303
    decline(ticket, eve)
    assert send(client, ticket, seen=seen, text="Aquí está.\nGracias.").status_code == 303

    assert (TicketFile.objects.count(), UnfinishedFile.objects.count()) == (1, 0)
    assert Comment.objects.filter(by="company").count() == 1


def test_the_same_text_is_written_again_after_it_was_seen(
    by_session: Enter, ticket: Ticket
) -> None:
    client = by_session(ticket.company)

    for _ in range(2):
        send(client, ticket, text="¿Hay noticias?")

    assert Comment.objects.count() == 2
    # A token that no page carried refuses nothing.
    send(client, ticket, seen="0.0", text="¿Hay noticias?")
    assert Comment.objects.count() == 3


def test_a_second_tap_waits_for_the_first(rows_to_keep: None, ticket: Ticket) -> None:
    seen = ticket_contents.read_token(ticket_contents.read_state(ticket.company, ticket.pk))
    tap = partial(answering.answer, ticket.company, ticket.pk, seen, "Falta una taza.", [])

    in_order(tap, tap)

    assert Comment.objects.count() == 1


def test_two_taps_at_once_are_one_answer(
    rows_to_keep: None, by_session: Enter, ticket: Ticket, eve: Agent
) -> None:
    ask(ticket, eve, "Factura")
    client = by_session(ticket.company)
    form = {
        "text": "Aquí está.",
        "seen": ticket_contents.read_state(ticket.company, ticket.pk),
    }
    field, content = document_of(ticket, "Factura"), files.photo()

    def tap() -> int:
        return cast(
            int, send(client, ticket, **form, **{field: photo(content=content)}).status_code
        )

    with racers(2) as together:
        assert together.run([tap, tap]) == [303, 303]

    assert (TicketFile.objects.count(), UnfinishedFile.objects.count()) == (1, 0)
    assert Comment.objects.filter(by="company").count() == 1
    assert status_of(ticket) == Status.FOLLOW_UP


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_decision_in_the_meantime_is_told_and_the_text_kept(
    by_session: Enter, ticket: Ticket, eve: Agent, language: str
) -> None:
    client = by_session(ticket.company, language=language)
    page(client, ticket)
    decline(ticket, eve)

    refused = send(client, ticket, text="¡Sí está dañado!", files=[photo()])

    assert refused.status_code == 409
    said = {"en": "was decided in the meantime", "es": "Mientras tanto se decidió el ticket"}
    shown = text_of(refused)
    assert said[language] in shown
    assert "No está dañado." in shown
    assert re.search(r"<textarea[^>]*> ?¡Sí está dañado!</textarea>", shown)
    assert not TicketFile.objects.exists()

    Ticket.objects.update(status=Status.ACCEPTED)
    assert "¡Sí está dañado!" in text_of(send(client, ticket, text="¡Sí está dañado!"))


def test_all_of_an_answer_is_written_or_nothing(
    by_session: Enter, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = by_session(ticket.company)
    monkeypatch.setattr(ticket_files, "MOST_PER_TICKET", 1)

    refused = send(client, ticket, text="Dos fotos.", files=[photo("a.jpg"), photo("b.jpg")])

    assert refused.status_code == 422
    shown = text_of(refused)
    assert "A ticket has at most 1 files." in shown
    assert "Dos fotos.</textarea>" in shown
    assert left_nothing(ticket)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("This is a web page.", "Save or print it as a PDF.")),
        ("es", ("Esto es una página web.", "Guárdelo o imprímalo como PDF.")),
    ],
)
def test_a_refused_file_is_named_at_its_field_with_what_to_do(
    by_session: Enter, ticket: Ticket, eve: Agent, language: str, words: tuple[str, ...]
) -> None:
    ask(ticket, eve, "Factura")
    client = by_session(ticket.company, language=language)
    field, name = document_of(ticket, "Factura"), "fac\u202egpj.html"

    refused = send(client, ticket, text="Va.", **{field: photo(name, files.HTML)}, files=[photo()])

    assert refused.status_code == 422
    shown = text_of(refused)
    (error,) = re.findall(rf'<p class="error" role="alert" id="{field}_error">(.*?)</p>', shown)
    assert error.startswith("facgpj.html: ")
    assert all(word in error for word in words)
    assert f'aria-describedby="{field}_error"' in shown
    assert "Va.</textarea>" in shown
    assert not TicketFile.objects.exists()
    assert not UnfinishedFile.objects.exists()


def test_refusals_are_told_in_words(
    by_session: Enter, ticket: Ticket, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = by_session(ticket.company)
    assert "Write an answer, or choose a file." in text_of(send(client, ticket, text=" \n"))
    six = [photo(f"{number}.jpg") for number in range(6)]
    assert "at most 5 files at a time" in text_of(send(client, ticket, files=six))
    assert "no longer asked for" in text_of(send(client, ticket, **{"document-1": photo()}))

    counter.blind_until = 0
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "upload": 1}
    refused = send(client, ticket, text="Va.", files=[photo(), photo()])
    assert "Too many files in a minute." in text_of(refused)
    settings.TEXT_MIB_PER_DAY = 0
    refused = send(client, ticket, text="Mucho texto.")
    assert refused.status_code == 429
    assert "too much text today" in text_of(refused)
    assert "Mucho texto.</textarea>" in text_of(refused)
    settings.TEXT_MIB_PER_DAY, settings.COMMENTS_PER_TICKET = 64, 0
    assert "no room for more messages" in text_of(send(client, ticket, text="Va."))
    assert left_nothing(ticket)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_decision_is_told_with_reason_amounts_and_appeal(
    by_link: Enter, ticket: Ticket, eve: Agent, language: str
) -> None:
    Company.objects.update(language=language)
    code = ReasonCode.objects.exclude(code="other").filter(for_declined=True).first()
    assert code is not None
    amounts = Amounts(claimed=Decimal("4850.5"), offered=Decimal(0), currency="MXN")
    working.move(
        ticket.pk,
        Status.DECLINED,
        user=eve.user,
        reason="El empaque no protege.",
        decision=Decision(code=code.code, amounts=amounts),
    )
    working.write(ticket.pk, "Otra cosa.", user=eve.user, public=True)
    client = by_link(ticket)

    shown = page(client, ticket)

    box = re.search(r'<section id="box".*?</section>', shown)[0]
    assert code.names[language] in box
    assert "El empaque no protege." in box
    assert "Otra cosa." not in box
    assert {"en": "4,850.50 MXN", "es": "$4,850.50 MXN"}[language] in box
    assert "0.00 MXN" in box
    assert {"en": "you can appeal once, until", "es": "puede apelar una vez, hasta el"}[
        language
    ] in box

    sent = send(client, ticket, "appeal", text="La foto muestra otra caja.")
    again = send(client, ticket, "appeal", text="La foto muestra otra caja.")
    other = send(client, ticket, "appeal", text="Y otra cosa.")

    assert (sent.status_code, again.status_code, other.status_code) == (303, 303, 409)
    assert "Y otra cosa." in text_of(other)
    notice = {"en": "Your appeal is sent.", "es": "Su apelación se envió."}
    assert notice[language] in text_of(client.get(sent["Location"]))
    shown = page(client, ticket)
    assert {"en": "is with us. There is nothing", "es": "Tenemos su apelación del"}[
        language
    ] in shown
    assert "/appeal" not in shown


def test_a_later_reply_is_no_reason(by_link: Enter, ticket: Ticket, eve: Agent) -> None:
    working.move(ticket.pk, Status.ACCEPTED, user=eve.user)
    Ticket.objects.update(decided_at=timezone.now() - timedelta(hours=1))
    working.write(ticket.pk, "De nada.", user=eve.user, public=True)

    assert "<blockquote" not in page(by_link(ticket), ticket)


def test_the_end_of_an_appeal_is_told(by_link: Enter, ticket: Ticket, eve: Agent) -> None:
    decline(ticket, eve)
    client, ben = by_link(ticket), build.agent("ben", group="lead")
    send(client, ticket, "appeal", text="No es nuestra caja.")
    working.decide_appeal(ticket.pk, accept=False, user=ben.user, reason="Sí lo es.")

    shown = page(client, ticket)

    assert "Your appeal was refused:" in shown
    assert "Sí lo es." in shown
    assert "cannot be appealed again" in shown
    assert "/appeal" not in shown

    working.move(ticket.pk, Status.IN_REVIEW, user=eve.user, reason="De nuevo.")
    decline(ticket, eve)
    send(client, ticket, "appeal", text="No.")
    working.decide_appeal(ticket.pk, accept=True, user=ben.user, reason="nobody may read this")
    shown = page(client, ticket)
    assert "Your appeal was accepted" in shown
    assert "nobody may read this" not in shown


def test_a_late_appeal_is_not_offered(
    by_link: Enter, ticket: Ticket, eve: Agent, settings: Settings
) -> None:
    decline(ticket, eve)
    settings.APPEAL_DAYS = -1
    client = by_link(ticket)

    assert "could be appealed until" in page(client, ticket)
    assert "/appeal" not in page(client, ticket)
    assert send(client, ticket, "appeal", text="Tarde.").status_code == 409
    assert send(client, ticket, "appeal", text=" ").status_code == 422


def test_a_decision_is_rated_once(by_session: Enter, ticket: Ticket, eve: Agent) -> None:
    client = by_session(ticket.company)
    assert send(client, ticket, "rating", stars="5").status_code == 409
    decline(ticket, eve)
    for wrong in ("0", "6", "", "x", "٣"):
        assert send(client, ticket, "rating", stars=wrong, comment="Bien.").status_code == 422

    answers = [
        send(client, ticket, "rating", stars=stars, comment="Bien.").status_code
        for stars in ("4", "4", "1")
    ]

    assert answers == [303, 303, 409]
    rated = Ticket.objects.get().rating
    assert (rated.rating, rated.comment) == (4, "Bien.")
    assert "You rated this decision 4 of 5." in page(client, ticket)


def test_nothing_internal_shows(
    by_session: Enter, by_link: Enter, ticket: Ticket, eve: Agent, birch: Company
) -> None:
    Ticket.objects.update(agent=eve)
    working.write(ticket.pk, "nobody may read this", user=eve.user, public=False)
    build.file(ticket.company, ticket=ticket, name="secret-plan.png", public=False)
    hidden = build.file(
        ticket.company, ticket=ticket, by="agent", actor="adalovelace", public=False
    )
    build.file(ticket.company, ticket=ticket, by="agent", actor="adalovelace", name="mapa.png")
    working.write(ticket.pk, "Lo vemos.", user=eve.user, public=True)
    strangers = build.ticket(birch, comments="Birch writes", status=Status.INCOMPLETE)
    token = csrf_of(client := by_session(ticket.company))

    for one in (client, by_link(ticket)):
        shown = page(one, ticket)
        assert "mapa.png" in shown
        assert "Lo vemos." in shown
        assert "Support" in shown
        for canary in CANARIES:
            assert canary not in shown
        for address in ("", "/files/1", "/answer", "/appeal", "/rating"):
            answer = one.get(f"/c/tickets/{strangers.pk}{address}")
            assert answer.status_code in (302, 403, 404)
            assert "Birch" not in answer.content.decode()
        for kind in ("", "/thumbnail"):
            answer = one.get(f"/c/tickets/{ticket.pk}/files/{hidden.pk}{kind}")
            assert answer.status_code == 404
    for act in ("answer", "appeal", "rating"):
        form = {"csrf": token, "text": "Hola", "stars": "5"}
        assert client.post(f"/c/tickets/{strangers.pk}/{act}", form).status_code == 404
    assert not strangers.conversation.exists()


def test_reading_writes_nothing_and_forms_need_their_token(
    by_link: Enter, ticket: Ticket, eve: Agent
) -> None:
    ask(ticket, eve, "Factura")
    client = by_link(ticket)
    before = Ticket.objects.values().get()

    for act in ("answer", "appeal", "rating"):
        assert client.get(f"/c/tickets/{ticket.pk}/{act}")["Location"] == f"/c/tickets/{ticket.pk}"
        form = {"csrf": "x", "text": "Hola", "stars": "5"}
        assert client.post(f"/c/tickets/{ticket.pk}/{act}", form).status_code == 403
    assert client.head(f"/c/tickets/{ticket.pk}").status_code == 200

    assert Ticket.objects.values().get() == before


def test_files_open_and_have_thumbnails(by_link: Enter, ticket: Ticket) -> None:
    client = by_link(ticket)
    send(client, ticket, files=[photo()])
    ticket_state = ticket_contents.read_state(ticket.company, ticket.pk)
    from tickets.changes import file_upkeep

    assert "/thumbnail" not in page(client, ticket)
    file_upkeep.make_thumbnails()

    # Open pages hear of the thumbnail.
    assert ticket_contents.read_state(ticket.company, ticket.pk) != ticket_state
    shown = page(client, ticket)
    address = re.search(r'<img src="([^"]+)"', shown)[1]
    assert client.get(address)["Content-Type"] == "image/jpeg"
    opened = client.get(address.removesuffix("/thumbnail"), follow=True)
    assert (opened.status_code, opened["Content-Type"]) == (200, "image/jpeg")
    assert client.head(address).status_code == 200
    assert Client().get(address).status_code == 403

    TicketFile.objects.update(stored_as="forgotten/1", thumbnail="")
    assert "no longer kept" in page(client, ticket)


def test_hostile_texts_stay_texts(by_link: Enter, company: Company, eve: Agent) -> None:
    bad = "<script>alert(1)</script> \u202edrow {{ 7|add:1 }} https://evil.example/x"
    Company.objects.update(name=f"Ácme & {bad}"[:100])
    shipment = build.shipment(company, tracking_number=f"T{bad}"[:50], carrier_name="<b>\u2066")
    ticket = build.ticket(company, shipment_id=shipment.pk, comments=f"{bad}\n\n\n\n\n\n\nfin")
    build.file(company, ticket=ticket, name="\u202egpj.exe<img src=x>")
    ask(ticket, eve, bad, reason=f"{bad}\r\nsecond line")
    client = by_link(ticket)

    raw = client.get(f"/c/tickets/{ticket.pk}").content.decode()

    assert "<script>alert" not in raw
    assert "<img src=x>" not in raw
    assert "<b>" not in raw
    assert not set("\u202e\u2066") & set(raw)
    assert "[U+202E]drow {{ 7|add:1 }} https://evil.example/x" in raw
    assert 'href="https://evil' not in raw
    assert "\n\n\n\nfin" not in raw
    assert re.search(r'class="words" dir="auto">[^<]*\r?\nsecond line', raw)


def test_a_long_conversation_has_pages_oldest_first(
    by_session: Enter, ticket: Ticket, eve: Agent
) -> None:
    start = timezone.now()
    Comment.objects.bulk_create(
        Comment(
            ticket=ticket,
            by=("company", "agent")[number % 2],
            text=f"mensaje-{number:03} ñ",
            status=ticket.status,
            public=number % 5 != 4,
            created_at=start + timedelta(hours=number),
        )
        for number in range(100)
    )
    for number in (3, 50, 99):
        at = start + timedelta(hours=number, seconds=-1)
        build.file(ticket.company, ticket=ticket, name=f"foto-{number}.png", created_at=at)
    client = by_session(ticket.company)
    pages, query = [], {}
    while True:
        shown = page(client, ticket, **query)
        pages.insert(0, re.findall(r"mensaje-\d+|foto-\d+|Llegó roto", shown))
        if not (found := re.search(r"\?before=(\d+)", shown)):
            break
        query = {"before": found[1]}

    read = [one for part in pages for one in part]
    texts = [one for one in read if one.startswith("mensaje")]
    assert texts == [f"mensaje-{number:03}" for number in range(100) if number % 5 != 4]
    assert len(pages) == 3
    assert len(texts) == 80
    assert read[0] == "Llegó roto"
    assert [one for one in read if one.startswith("foto")] == ["foto-3", "foto-50", "foto-99"]
    assert "data-page" not in page(client, ticket, **query)


def test_a_long_message_is_shortened_and_read_whole(by_link: Enter, ticket: Ticket) -> None:
    long = "palabra " * 2_000 + "fin-del-texto"
    Ticket.objects.update(comments=long)
    comment = Comment.objects.create(
        ticket=ticket, by="agent", text=long, status=6, created_at=timezone.now()
    )
    note = Comment.objects.create(
        ticket=ticket, by="agent", text=long, status=6, public=False, created_at=timezone.now()
    )
    client = by_link(ticket)

    shown = page(client, ticket)

    assert "fin-del-texto" not in shown
    assert len(shown) < 20_000
    for whole in (conversation.OPENING, comment.pk):
        assert f"?message={whole}" in shown
        assert "fin-del-texto" in page(client, ticket, message=whole)
    for wrong in (note.pk, 10**30, comment.pk + 99):
        status = client.get(f"/c/tickets/{ticket.pk}?message={wrong}").status_code
        assert status == (200 if wrong == 10**30 else 404)
    for odd in ("x", "-1", "9" * 40, "²"):
        assert client.get(f"/c/tickets/{ticket.pk}?before={odd}&message=").status_code == 200


def test_the_state_changes_with_what_shows_and_costs_one_query(
    by_session: Enter, ticket: Ticket, eve: Agent
) -> None:
    client = by_session(ticket.company)
    address = f"/c/tickets/{ticket.pk}"

    def state() -> str:
        return client.get(address)["ETag"].strip('"')

    states = [state()]
    working.write(ticket.pk, "nobody may read this", user=eve.user, public=False)
    build.file(ticket.company, ticket=ticket, public=False)
    Ticket.objects.update(agent=eve, updated_at=timezone.now(), version=99)
    assert state() == states[0]
    assert f'data-state="{states[0]}"' in page(client, ticket)

    for change in (
        partial(ask, ticket, eve, "Factura"),
        partial(working.write, ticket.pk, "Hola.", user=eve.user, public=True),
        partial(send, client, ticket, files=[photo()]),
        partial(decline, ticket, eve),
        partial(
            decisions.set_amounts,
            ticket.pk,
            Amounts(claimed=Decimal(9), currency="MXN"),
            user=eve.user,
        ),
        partial(send, client, ticket, "appeal", text="No."),
        partial(send, client, ticket, "rating", stars="2"),
    ):
        change()
        states.append(state())
    assert len(set(states)) == len(states)

    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address, headers={"If-None-Match": f'"{states[-1]}"'})
    assert (answer.status_code, answer.content) == (304, b"")
    assert len([one for one in queries if "tickets_ticket" in one["sql"]]) == 1
    assert len(queries) == 2


def test_more_rows_need_no_more_queries(by_session: Enter, ticket: Ticket, eve: Agent) -> None:
    client = by_session(ticket.company)
    counts = []
    for number in range(2):
        ask(ticket, eve, *(f"Documento {number}-{each}" for each in range(1 + 9 * number)))
        for _ in range(1 + 9 * number):
            working.write(ticket.pk, "Hola.", user=eve.user, public=True)
            build.file(ticket.company, ticket=ticket, thumbnail="x")
        with CaptureQueriesContext(connection) as queries:
            page(client, ticket)
        counts.append(len(queries))
        Ticket.objects.update(status=Status.IN_REVIEW)

    assert counts[0] == counts[1] <= 9


def test_the_first_load_is_small(by_link: Enter, ticket: Ticket, eve: Agent) -> None:
    ask(ticket, eve, *(f"Documento {number}" for number in range(30)))
    for number in range(40):
        working.write(ticket.pk, f"Una respuesta {number}. " * 20, user=eve.user, public=True)
    static = Path(answering.__file__).parent / "static" / "portal"

    shown = by_link(ticket).get(f"/c/tickets/{ticket.pk}").content

    assert len(shown) + sum(one.stat().st_size for one in static.iterdir()) < 120_000


def test_an_appeal_that_was_refused_is_not_taken_for_one_that_is_sent_twice(
    by_link: Enter, ticket: Ticket, eve: Agent
) -> None:
    decline(ticket, eve)
    client = by_link(ticket)
    send(client, ticket, "appeal", text="No es nuestra caja.")
    ben = build.agent("ben", group="lead")
    working.decide_appeal(ticket.pk, accept=False, user=ben.user, reason="Sí lo es.")

    again = send(client, ticket, "appeal", text="No es nuestra caja.")

    assert again.status_code == 409
    assert "cannot be appealed any more" in text_of(again)
    assert "No es nuestra caja." in text_of(again)
