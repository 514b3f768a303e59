"""The claim file: its contents for a carrier, its languages, and what it never reveals."""

import csv
import hashlib
import io
import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zipfile import ZipFile

import pypdfium2
import pytest
from django.contrib.admin.models import LogEntry
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from companies.models import Company
from core.files import storage
from core.files.pdf import has_active_parts
from deliveries import publishing
from deliveries.models import Event
from desk.claim_file import contents, making
from tests import builders as build
from tests import files, pdfs
from tests.desk.test_queues import LIST
from tickets import working
from tickets.changes.decisions import Decision
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.history_codes import Kind
from tickets.models import Agent, HistoryEntry, Ticket, TicketFile
from tickets.money import Amounts
from tickets.statuses import Status


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    """Create a ticket with messages of both sides, a note, scans, a delivery, a photo and a PDF."""
    company.name = "Žluťoučký Ñandú Ω אבג"
    company.save()
    shipment = build.shipment(company, 4101, carrier_name="Swift")
    scan = {"status": "in_transit", "status_description": "=HYPERLINK(1)", "location": "León"}
    shipment.updates.create(digest=b"x" * 16, occurred_at=timezone.now(), **scan)
    build.webhook(company)
    publishing.publish([build.news(company, 4101, tracking_number=shipment.tracking_number)])
    ticket = build.ticket(
        company, type_id=5, shipment_id=4101, status=Status.IN_REVIEW, comments="It is crushed. 箱"
    )
    keep(ticket, "photo of the box.jpg", files.photo(), "image/jpeg")
    keep(ticket, "invoice.pdf", files.pdf(2), "application/pdf")
    keep(ticket, "for us.png", files.picture(), "image/png", public=False, by="agent", actor="ada")
    working.write(ticket.pk, "They always do this.", user=agent.user, public=False)
    decision = Decision(
        code="damage_confirmed", amounts=Amounts(Decimal(120), Decimal(80), None, "EUR")
    )
    return working.move(
        ticket.pk, Status.ACCEPTED, user=agent.user, reason="Paid.", decision=decision
    )


def keep(ticket: Ticket, name: str, content: bytes, media_type: str, **more: Any) -> TicketFile:
    return build.file(
        ticket.company,
        ticket=ticket,
        name=name,
        media_type=media_type,
        sha256=hashlib.sha256(content).hexdigest(),
        stored_as=storage.write_file(storage.new_file_name(), content),
        **more,
    )


def take(
    desk: Client, ticket: Ticket, form: str = "zip", language: str = "en", copy: str = "carrier"
) -> HttpResponse:
    form_data = {"language": language, "as": form, "for": copy}
    return desk.post(f"{LIST}{ticket.pk}/claim-file/", form_data)


def content_of(answer: HttpResponse) -> bytes:
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def unpacked(answer: HttpResponse) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(content_of(answer))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def text_of(pdf: bytes) -> tuple[str, int]:
    document = pypdfium2.PdfDocument(pdf)
    pages = [page.get_textpage().get_text_range() for page in document]
    return " ".join("\n".join(pages).split()), len(pages)


def test_lists_deliveries_of_the_parcel_and_not_of_its_tickets(ticket: Ticket) -> None:
    company, number = ticket.company, Event.objects.get().tracking_number
    build.webhook(company, TICKET_UPDATED.id)
    about = {"type": TICKET_UPDATED.id, "ticket_id": ticket.pk, "tracking_number": number}
    publishing.publish([build.news(company, 4101, **about)])

    deliveries = contents.read_claim(ticket).deliveries

    assert [row[1] for row in deliveries] == ["tracking.simple"]


def test_holds_everything_public_and_nothing_internal(desk: Client, ticket: Ticket) -> None:
    answer = take(desk, ticket, copy="company")

    archive = unpacked(answer)
    photo, invoice, ours = TicketFile.objects.order_by("pk")
    assert set(archive) == {
        f"claim-{ticket.pk}.pdf",
        "ticket.json",
        "scans.csv",
        "deliveries.csv",
        f"files/{photo.pk}-photo of the box.jpg",
        f"files/{invoice.pk}-invoice.pdf",
    }
    assert archive[f"files/{invoice.pk}-invoice.pdf"] == storage.read_file(invoice.stored_as)
    text, pages = text_of(archive[f"claim-{ticket.pk}.pdf"])
    # Pages: the cover and the tables, the photo, the page before the invoice, and the invoice.
    assert pages == 1 + 1 + 1 + 2
    for fact in (
        "Žluťoučký Ñandú Ω",
        "120.00 EUR",
        "80.00 EUR",
        "Damage confirmed",
        "It is crushed. [U+7BB1]",
        "Paid.",
        "León",
        "tracking.simple",
        photo.sha256[:20],
    ):
        assert fact in text, fact
    tables = (content for name, content in archive.items() if name.endswith((".csv", ".json")))
    everything = b"".join(tables) + text.encode()
    for secret in ("ada", "They always do this.", ours.name):
        # Match a whole word: digests contain letters too.
        assert not re.search(rf"\b{re.escape(secret)}\b".encode(), everything), secret
    # In the tables formulas are escaped, and only rows of the ticket's own company occur.
    (_, scan) = csv.reader(archive["scans.csv"].decode("utf-8-sig").splitlines())
    assert scan[1:] == ["in_transit", "'=HYPERLINK(1)", "León"]
    (_, delivery) = csv.reader(archive["deliveries.csv"].decode("utf-8-sig").splitlines())
    assert delivery[1] == "tracking.simple"
    claim = json.loads(archive["ticket.json"])
    assert claim["reason_code"] == "damage_confirmed"
    assert claim["comments"] == "It is crushed. 箱"
    assert [one["file"] in archive for one in claim["files"]] == [True, True]
    assert "url" not in claim["files"][0]


def test_empty_ticket_has_a_claim_file_and_history_its_digest(
    desk: Client, company: Company
) -> None:
    bare = build.ticket(company, status=Status.PENDING)

    answer = take(desk, bare, "pdf", language="es")

    content = b"".join(answer.streaming_content)
    text, pages = text_of(content)
    assert (pages, str(bare.pk) in text) == (1, True)
    assert answer["Content-Disposition"] == f'attachment; filename="claim-{bare.pk}.pdf"'
    entry = HistoryEntry.objects.get()
    assert entry.data == {"sha256": hashlib.sha256(content).hexdigest(), "language": "es"}
    assert (entry.kind, entry.actor, entry.public) == ("claim_file_taken", "ada", False)


def test_a_file_that_cannot_be_opened_is_named_and_lies_in_the_zip(
    desk: Client, ticket: Ticket
) -> None:
    torn = keep(ticket, "torn.pdf", files.pdf()[:80], "application/pdf")
    bomb = keep(ticket, "bomb.png", files.bomb(), "image/png")

    archive = unpacked(take(desk, ticket))

    text, _ = text_of(archive[f"claim-{ticket.pk}.pdf"])
    assert "Files that are in the ZIP file only torn.pdf bomb.png" in text
    assert {f"files/{torn.pk}-torn.pdf", f"files/{bomb.pk}-bomb.png"} <= set(archive)


def test_files_that_end_the_maker_are_left_out_of_the_pdf_only(
    desk: Client, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    run = making.run_maker

    def killed_by_files(contents: dict[str, Any]) -> int:
        tried.append(len(contents["files"]))
        return -9 if contents["files"] else run(contents)

    monkeypatch.setattr(making, "run_maker", killed_by_files)

    archive = unpacked(take(desk, ticket))

    assert tried == [2, 0]
    text, _ = text_of(archive[f"claim-{ticket.pk}.pdf"])
    assert "Files that are in the ZIP file only" in text
    assert sum(name.startswith("files/") for name in archive) == 2


def test_claim_files_are_made_one_at_a_time(
    desk: Client, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "WAIT_SECONDS", 0.01)
    places = (f"{ticket.pk}/evidence/", f"events/{ticket.shipment_id}/evidence/")
    with making.one_at_a_time():
        answers = [take(desk, ticket), *(desk.post(f"{LIST}{place}") for place in places)]

    assert [answer.status_code for answer in answers] == [302] * 3
    kinds = (Kind.CLAIM_FILE_TAKEN, Kind.EVIDENCE_TAKEN)
    assert not HistoryEntry.objects.filter(kind__in=kinds).exists()
    assert not LogEntry.objects.exists()


def test_only_agents_download_it_in_a_supported_language(desk: Client, ticket: Ticket) -> None:
    olga = Client()
    olga.force_login(build.agent("olga", group="auditor").user)

    assert take(olga, ticket).status_code == 403
    assert take(desk, ticket, language="xx").status_code == 400
    assert desk.get(f"{LIST}{ticket.pk}/claim-file/").status_code == 405
    assert "claim-file/" not in olga.get(f"{LIST}{ticket.pk}/change/").content.decode()


def test_evidence_is_offered_where_there_are_webhooks(
    desk: Client, ticket: Ticket, birch: Company
) -> None:
    build.shipment(birch, 4102)
    without = build.ticket(birch, shipment_id=4102)

    pages = [desk.get(f"{LIST}{one.pk}/change/").content.decode() for one in (ticket, without)]

    assert ["evidence/" in html for html in pages] == [True, False]


def test_claims_to_file_are_sorted_by_money_then_days_left(desk: Client, company: Company) -> None:
    now, day = timezone.now(), timedelta(days=1)
    for amount, days, status in (
        (10, 1, 1),
        (500, 9, 1),
        (500, 2, 4),
        (None, 1, 1),
        (900, -1, 1),
        (900, 3, 3),
    ):
        build.ticket(
            company,
            status=status,
            amount_claimed=amount,
            currency="EUR" if amount else "",
            filing_due_at=now + days * day,
        )
    build.ticket(company, amount_claimed=900, currency="EUR")

    html = desk.get(LIST, {"queue": "to-file"}).content.decode()

    first, soon, late, none = (one.pk for one in Ticket.objects.order_by("pk")[:4])
    ids = [int(part.split("/")[0]) for part in html.split(f'class="desk-row" href="{LIST}')[1:]]
    assert ids == [late, soon, first, none]
    assert "500.00 EUR" in html


def page_colours(pdf: bytes, number: int) -> tuple[Any, Any]:
    """Return grey values inside and next to the form of `pdfs.form_pdf`, where it is black."""
    document = pypdfium2.PdfDocument(pdf)
    image = document[number].render(scale=1).to_pil().convert("L")
    return tuple(image.getpixel((image.width * at // 20, image.height // 2)) for at in (7, 17))


def test_the_fields_of_an_appended_form_are_drawn(desk: Client, company: Company) -> None:
    ticket = build.ticket(company, type_id=5)
    keep(ticket, "form.pdf", pdfs.form_pdf(), "application/pdf")
    keep(ticket, "again.pdf", pdfs.form_pdf(), "application/pdf")

    content = b"".join(take(desk, ticket, "pdf").streaming_content)

    _, pages = text_of(content)
    assert [page_colours(content, number) for number in (pages - 3, pages - 1)] == [(0, 255)] * 2


@pytest.mark.parametrize("active", [True, False], ids=["marked", "not marked"])
def test_active_pdf_is_appended_as_pictures(desk: Client, company: Company, active: bool) -> None:
    ticket = build.ticket(company, type_id=5)
    acts = b"/AcroForm<</Fields[4 0 R]/XFA(script)>>/OpenAction<</S/URI/URI(http://a.test)>>"
    form = pdfs.form_pdf().replace(b"/AcroForm<</Fields[4 0 R]>>", acts)
    keep(ticket, "form.pdf", form, "application/pdf", active=active)

    content = b"".join(take(desk, ticket, "pdf").streaming_content)

    document = pypdfium2.PdfDocument(content)
    assert not has_active_parts(document)
    # The last page is an A4 picture that contains the field.
    last = document[len(document) - 1]
    assert round(last.get_width()) == 595
    colours = last.render(scale=1).to_pil().convert("L").getextrema()
    assert colours[0] < 40
    assert [one.type for one in last.get_objects()].count(pypdfium2.raw.FPDF_PAGEOBJ_IMAGE) == 1
