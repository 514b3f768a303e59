"""New tickets of a company's people: the choice of a type, and the form of its rules."""

import json
import re
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.api.minute_counter import counter
from core.files.refusals import FileRefused
from deliveries.models import Event
from portal.visitors import ACTOR
from tests import builders as build
from tests import files
from tests.portal.conftest import Enter, csrf_of
from tests.portal.test_list_page import text_of
from tests.tickets.racing import in_order
from tests.tickets.test_detail import ticket_data
from tickets import opening
from tickets.changes import files as ticket_files
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.models import Notification, Ticket, TicketFile, TicketType, UnfinishedFile
from tickets.statuses import Status

NEW = "/c/tickets/new"
CARRIER, DAMAGED, REFUND, PACKAGE, CREDIT_LINE = 2, 5, 7, 10, 19
INPUTS = [
    {"name": "content", "el": "input", "required": True, "label": "¿Qué contiene?"},
    {"name": "value", "el": "input", "required": False, "type": "number"},
    {"name": "day", "el": "input", "required": False, "type": "date", "label": "Día"},
    {"name": "mail", "el": "input", "required": False, "type": "email"},
    {"name": "kind", "el": "select", "required": True, "options": ["Caja", "Sobre & más"]},
]
PHOTOS = [
    {"name": "Photo of the damage", "description": "From outside <too>.", "required": True},
    {"name": "Invoice"},
]
VALUES = {"input-0": "lámpara 🎁", "input-4": "Caja"}


def upload(name: str = "caja ñ.png", content: bytes | None = None) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, files.picture() if content is None else content)


def send(client: Client, type_id: int, **fields: Any) -> Any:
    body = {"csrf": csrf_of(client), "key": uuid4(), "text": "Llegó rota.", **fields}
    return client.post(f"{NEW}/{type_id}", body)


def errors_at(response: Any) -> set[str]:
    """Return the fields of a page that have an error, which their inputs name."""
    html = response.content.decode()
    named = set(re.findall(r'id="id_([\w-]+)_error"', html))
    assert named == set(re.findall(r'aria-describedby="[^"]*id_([\w-]+)_error"', html))
    assert named == set(re.findall(r'href="#id_([\w-]+)"', html))
    return named


@pytest.fixture
def ruled(db: None) -> TicketType:
    """Give a type inputs and files."""
    TicketType.objects.filter(pk=DAMAGED).update(inputs=INPUTS, files=PHOTOS)
    return TicketType.objects.get(pk=DAMAGED)


def test_offers_active_types_in_the_readers_language(by_session: Enter, company: Company) -> None:
    TicketType.objects.filter(pk=CARRIER).update(active=False)
    TicketType.objects.create(id=77, name="own_kind", description="Ours <b>")
    client = by_session(company, language="es")

    page = client.get(NEW)

    text = text_of(page)
    assert f'href="{NEW}/{DAMAGED}"' in page.content.decode()
    assert f'href="{NEW}/{CARRIER}"' not in page.content.decode()
    assert "Daño Un envío llegó dañado" in text
    assert "Own kind Ours <b>" in text
    assert f'href="{NEW}"' in client.get("/c/tickets").content.decode()


def test_form_is_built_from_the_rules(
    by_session: Enter, company: Company, ruled: TicketType
) -> None:
    html = by_session(company).get(f"{NEW}/{DAMAGED}").content.decode()

    for name, kind in (
        ("shipment", "text"),
        ("input-0", "text"),
        ("input-1", "number"),
        ("input-2", "date"),
        ("input-3", "email"),
        ("file-0", "file"),
        ("files", "file"),
    ):
        assert re.search(rf'<input type="{kind}" name="{name}"', html), name
        assert f'<label for="id_{name}">' in html
    assert '<option value="Sobre &amp; más">' in html
    assert "From outside &lt;too&gt;." in html
    assert html.count("(optional)") == 5
    for type_id, name in ((REFUND, "credit_id"), (PACKAGE, "warehouse_package_id")):
        html = by_session(company).get(f"{NEW}/{type_id}").content.decode()
        assert f'name="{name}"' in html
        assert 'name="shipment"' not in html


def test_opens_a_ticket_as_a_program_would(
    by_session: Enter, company: Company, ruled: TicketType, api: APIClient
) -> None:
    agent = build.agent()
    build.webhook(company, TICKET_UPDATED.id)
    parcel = build.shipment(company, tracking_number="TRACK-7", carrier_name="redpack")
    client = by_session(company)

    answer = send(
        client,
        DAMAGED,
        shipment=" track7 ",
        text="Llegó\r\nrota 🎁.",
        **VALUES,
        **{"input-1": "12.50", "input-2": "2026-03-01"},
        **{"file-0": [upload(), upload("dos.png", files.picture(size=(5, 5)))]},
        files=upload("nota.pdf", files.pdf()),
    )

    ticket = Ticket.objects.get()
    assert answer.status_code == 303
    assert answer["Location"].startswith(f"/c/tickets/{ticket.pk}?")
    assert (ticket.company, ticket.type_id, ticket.shipment_id) == (company, DAMAGED, parcel.pk)
    assert (ticket.comments, ticket.carrier_name) == ("Llegó\nrota 🎁.", "redpack")
    assert ticket.data == (
        '{"content": "lámpara 🎁", "value": "12.50", "day": "2026-03-01", "kind": "Caja"}'
    )
    assert list(ticket.history.values_list("kind", "by", "actor").order_by("pk"))[:1] == [
        ("opened", "company", "page")
    ]
    assert list(ticket.files.order_by("pk").values_list("name", "description", "by", "public")) == [
        ("caja ñ.png", "Photo of the damage", "company", True),
        ("dos.png", "Photo of the damage", "company", True),
        ("nota.pdf", "", "company", True),
    ]
    assert not UnfinishedFile.objects.exists()
    row = ticket_data(api, ticket.pk)
    assert (row["comments"], len(row["files"])) == (ticket.comments, 3)
    (event,) = Event.objects.all()
    data = json.loads(bytes(event.body))["data"]
    assert (data["change"], data["by"]) == ("opened", "company")
    # The agent hears of a new ticket, not of an answer besides.
    kinds = Notification.objects.filter(recipient=agent.user).values_list("kind", flat=True)
    assert list(kinds) == ["assigned"]


def test_all_errors_show_at_once_and_what_was_typed_is_kept(
    by_session: Enter, company: Company, birch: Company, ruled: TicketType
) -> None:
    build.shipment(birch, tracking_number="STRANGER-1")
    client = by_session(company, language="es")

    page = send(
        client,
        DAMAGED,
        shipment="STRANGER-1",
        text=" \u3164 ",
        **{"input-0": "<b>ñ", "input-1": "twelve", "input-2": "2026-02-31", "input-4": "None"},
        **{"file-0": upload("virus.exe", b"MZ of no use"), "file-1": upload("nada.png", b"")},
    )

    assert page.status_code == 400
    assert errors_at(page) == {
        "shipment", "text", "input-1", "input-2", "input-4", "file-0", "file-1",
    }  # fmt: skip
    text = text_of(page)
    assert "No encontramos ningún envío suyo con este número de guía." in text
    assert "virus.exe: " in text
    assert "Todavía no se abrió ningún ticket." in text
    html = page.content.decode()
    assert 'role="alert"' in html
    for typed in ('value="STRANGER-1"', 'value="&lt;b&gt;ñ"', 'value="twelve"'):
        assert typed in html
    assert not Ticket.objects.exists()
    assert not UnfinishedFile.objects.exists()
    assert errors_at(send(client, DAMAGED, text="")) == {
        "shipment", "text", "input-0", "input-4", "file-0",
    }  # fmt: skip


def test_good_files_of_a_refused_form_are_not_kept(by_session: Enter, company: Company) -> None:
    client = by_session(company)
    for plain in (client.get(f"/c/tickets/new/{CARRIER}"), send(client, CARRIER, text="")):
        assert "Files are not kept" not in text_of(plain)
    page = send(client, CARRIER, text="", files=upload())

    assert errors_at(page) == {"text"}
    assert "Files are not kept. Choose them again." in text_of(page)
    assert not UnfinishedFile.objects.exists()
    assert not TicketFile.objects.exists()


def test_too_many_files_and_a_busy_service_are_explained(
    by_session: Enter, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = by_session(company)
    page = send(client, CARRIER, files=[upload() for _ in range(6)])
    assert errors_at(page) == {"files"}
    assert "Attach at most 5 files at a time." in text_of(page)

    def busy(*_: object) -> None:
        raise FileRefused("Too many files at once.", code="files_busy")

    monkeypatch.setattr("tickets.changes.uploads.examine_file", busy)
    page = send(client, CARRIER, files=upload())
    assert (page.status_code, errors_at(page)) == (400, {"files"})
    assert not Ticket.objects.exists()


def test_form_sent_twice_opens_one_ticket(by_session: Enter, company: Company) -> None:
    build.shipment(company, tracking_number="T1")
    client, key = by_session(company), uuid4()

    answers = [
        send(client, DAMAGED, shipment="T1", key=key, files=upload(), text="Rota.")
        for _ in range(2)
    ]

    assert answers[0]["Location"] == answers[1]["Location"]
    assert Ticket.objects.count() == TicketFile.objects.count() == 1
    # Another text for the same shipment meets the first ticket, another type does not.
    changed = send(client, DAMAGED, shipment="T1", key=key, text="Rota 2.")
    assert changed.status_code == 409
    assert send(client, 4, shipment="T1", key=key, text="Rota.").status_code == 303


def test_form_that_is_sent_again_after_back_opens_one_ticket(
    by_session: Enter, company: Company
) -> None:
    client = by_session(company)

    for _ in range(2):
        page = client.get(f"{NEW}/{CARRIER}").content.decode()
        key = re.search(r'name="key" value="([^"]+)"', page)
        assert key is not None
        assert send(client, CARRIER, key=key[1]).status_code == 303

    assert Ticket.objects.count() == 1
    # Somebody else's words are another ticket.
    assert send(client, CARRIER, key=key[1], text="Otra.").status_code == 303
    assert Ticket.objects.count() == 2


def test_key_of_another_company_opens_nothing_of_theirs(
    by_session: Enter, company: Company, birch: Company
) -> None:
    key = uuid4()
    theirs = send(by_session(birch), CARRIER, key=key)
    mine = send(by_session(company), CARRIER, key=key)

    assert theirs["Location"] != mine["Location"]
    assert set(Ticket.objects.values_list("company__name", flat=True)) == {"Acme", "Birch"}


@pytest.mark.parametrize("key", ["", "x", "1" * 400])
def test_form_without_its_key_opens_nothing(by_session: Enter, company: Company, key: str) -> None:
    page = send(by_session(company), CARRIER, key=key)

    assert page.status_code == 400
    assert "This page was out of date." in text_of(page)
    assert not Ticket.objects.exists()


def test_existing_ticket_is_named_and_linked(by_session: Enter, company: Company) -> None:
    parcel = build.shipment(company, tracking_number="T1")
    first = build.ticket(company, type_id=DAMAGED, shipment_id=parcel.pk)

    page = send(by_session(company), DAMAGED, shipment="T1", text="Rota otra vez.")

    assert page.status_code == 409
    assert f'href="/c/tickets/{first.pk}"' in page.content.decode()
    assert f"Go to ticket {first.pk}" in text_of(page)
    assert "Rota otra vez." in text_of(page)
    assert Ticket.objects.count() == 1
    # An Incomplete one does not block (decision T11).
    Ticket.objects.update(status=Status.INCOMPLETE)
    assert send(by_session(company), DAMAGED, shipment="T1").status_code == 303


def test_references_of_other_types(by_session: Enter, company: Company) -> None:
    client = by_session(company)
    for wrong in ("", "many", "0", "9" * 19, "9" * 30):
        assert errors_at(send(client, REFUND, credit_id=wrong)) == {"credit_id"}
    assert send(client, REFUND, credit_id=" 77 ").status_code == 303
    # The package of a PO box may be unknown, a number of another company's package is a text.
    assert send(client, PACKAGE, warehouse_package_id="").status_code == 303
    assert send(client, PACKAGE, warehouse_package_id="P-ñ/5").status_code == 303

    rows = Ticket.objects.order_by("pk").values_list("credit_id", "warehouse_package_id")
    assert list(rows) == [(77, None), (None, None), (None, "P-ñ/5")]


def test_optional_shipment_that_is_not_known_is_left_out_by_the_person(
    by_session: Enter, company: Company
) -> None:
    TicketType.objects.filter(pk=DAMAGED).update(reference_required=False)
    client = by_session(company)

    page = send(client, DAMAGED, shipment="NOPE")
    assert errors_at(page) == {"shipment"}
    assert "Or leave this empty, and write the number in your message." in text_of(page)
    assert send(client, DAMAGED, shipment="").status_code == 303


def test_documents_are_lines_and_files(by_session: Enter, company: Company) -> None:
    client = by_session(company)
    assert errors_at(send(client, CREDIT_LINE)) == {"documents"}
    assert errors_at(send(client, CREDIT_LINE, documents="no colon")) == {"documents"}

    lines = "Contrato: https://files.example.com/a\r\nFirmado: 2026-03-01\r\nRFC: XAXX010101000"
    long_name = f"{'acta ' * 20}.png"
    answer = send(client, CREDIT_LINE, documents=lines, files=upload(long_name))

    assert answer.status_code == 303
    rows = Ticket.objects.get().documents.values_list("field_id", "key", "type", "value")
    assert list(rows) == [
        (long_name[:50], long_name, "file", None),
        ("Contrato", "Contrato", "file", "https://files.example.com/a"),
        ("Firmado", "Firmado", "date", "2026-03-01"),
        ("RFC", "RFC", "input", "XAXX010101000"),
    ]


@pytest.mark.parametrize("type_id", [CARRIER, 999, 2**62])
def test_type_that_is_not_offered_has_a_way_back(
    by_session: Enter, company: Company, type_id: int
) -> None:
    client = by_session(company)
    TicketType.objects.filter(pk=CARRIER).update(active=False)

    for page in (client.get(f"{NEW}/{type_id}"), send(client, type_id)):
        assert page.status_code == 404
        assert f'href="{NEW}"' in page.content.decode()
    assert not Ticket.objects.exists()


def test_texts_of_a_day_end_with_a_time(
    by_session: Enter, company: Company, settings: Settings
) -> None:
    settings.TEXT_MIB_PER_DAY = 0
    company.time_zone = "America/Mexico_City"
    company.save()

    page = send(by_session(company), CARRIER, text="Hola.")

    assert page.status_code == 429
    assert "6:00 p.m. (Central Time)" in text_of(page)
    assert "Hola." in text_of(page)
    assert not Ticket.objects.exists()


def test_long_and_odd_texts_are_answered_at_their_fields(
    by_session: Enter, company: Company, ruled: TicketType
) -> None:
    build.shipment(company, tracking_number="T1")
    values = {**VALUES, "input-0": "x\x00y", "shipment": "T1", "file-0": upload()}
    page = send(by_session(company), DAMAGED, **{**values, "text": "🎁" * 16_001})
    assert errors_at(page) == {"text", "input-0"}
    longest = {**values, "input-0": "🎁" * 1_000, "file-0": upload()}
    answer = send(by_session(company), DAMAGED, **{**longest, "text": "🎁" * 16_000})
    assert answer.status_code == 303


def test_company_that_is_switched_off_meanwhile_is_refused(
    by_session: Enter, company: Company
) -> None:
    client = by_session(company)
    assert client.get(f"{NEW}/{CARRIER}").status_code == 200
    Company.objects.update(active=False)

    assert send(client, CARRIER).status_code == 403
    assert not Ticket.objects.exists()


def test_form_of_somewhere_else_is_refused(by_session: Enter, company: Company) -> None:
    client = by_session(company)

    assert send(client, CARRIER, csrf="").status_code == 403
    assert client.head(f"{NEW}/{CARRIER}").status_code == 200
    assert not Ticket.objects.exists()


def test_file_of_a_ticket_that_is_not_opened_stays_out(
    by_session: Enter, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticket_files, "MOST_PER_TICKET", 0)

    page = send(by_session(company), CARRIER, files=upload())

    assert (page.status_code, errors_at(page)) == (400, {"files"})
    assert not Ticket.objects.exists()
    assert not TicketFile.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_forms_that_come_at_once_one_opens_a_ticket() -> None:
    acme = build.company()
    once = partial(opening.open_once, acme, ACTOR, key=uuid4(), type_id=CARRIER, comments="Hola.")

    first, second = in_order(once, once)

    assert first == second == Ticket.objects.get()


def test_files_count_as_uploads_of_the_company(
    by_session: Enter, company: Company, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counter, "blind_until", 0)
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "upload": 1}
    client = by_session(company)

    page = send(client, CARRIER, files=[upload(), upload("dos.png")])

    assert errors_at(page) == {"files"}
    assert "Too many files in a minute." in text_of(page)
    assert not Ticket.objects.exists()


def test_file_of_an_unknown_field_is_examined_too(by_session: Enter, company: Company) -> None:
    page = send(by_session(company), CARRIER, **{"file-9": upload("virus.exe", b"MZ of no use")})

    assert errors_at(page) == {"files"}
    assert "virus.exe: " in text_of(page)
