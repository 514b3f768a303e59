"""A ticket's times and amounts are the same wherever somebody reads them, in the zone of each.

The company is in Mexico, the lead who reads in Madrid, and the carrier's deadline is ten minutes
before the company's midnight. `./dev test tests/desk/test_one_truth.py -s -k six -n0` prints the
table of the places.
"""

import csv
import re
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from html import unescape
from io import StringIO
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import audit
from companies.models import AuditEntry, Company
from core.models import Mail
from core.values.zones import moment_text
from desk.models import Preferences
from tests import builders as build
from tests.desk.test_claim_file import text_of, unpacked
from tests.moments import ZONES, moments_in
from tickets import working
from tickets.changes.decisions import set_amounts
from tickets.models import Agent, FilingRule, Ticket
from tickets.money import Amounts
from tickets.statuses import Status

MEXICO, MADRID = ZoneInfo("America/Mexico_City"), ZoneInfo("Europe/Madrid")
LIST = "/admin/tickets/ticket/"


class Reading(NamedTuple):
    """Texts of one place, and the moments and the amount that they mean."""

    deadline: str
    due: datetime
    opened: datetime | None
    amount: str
    claimed: Decimal | None


@pytest.fixture
def company(company: Company) -> Company:
    company.contact_email, company.language = "ana@acme.example", "es"
    company.time_zone = MEXICO.key
    company.save()
    return company


@pytest.fixture
def lead(db: None) -> User:
    """Create a lead whose shifts are in Madrid."""
    eve = build.agent("eve", group="lead", time_zone=MADRID.key)
    return eve.user


@pytest.fixture
def browser(lead: User) -> Client:
    client = Client()
    client.force_login(lead)
    return client


def near_midnight(zone: ZoneInfo) -> datetime:
    day = datetime.now(zone).date() + timedelta(days=9)
    return datetime.combine(day, time(23, 50), zone)


def incomplete_ticket(
    company: Company, lead: User, due: datetime, shipment_id: int = 4101
) -> Ticket:
    """Create a ticket whose company is asked for something; its claim can be filed until `due`."""
    FilingRule.objects.get_or_create(type_id=5, defaults={"days": 30})
    shipped = due - timedelta(days=30)
    shipment = build.shipment(company, shipment_id, carrier_name="Estafeta", shipped_at=shipped)
    for number, status in enumerate(("Picked Up", "out for delivery", "en_bodega")):
        at = shipped + timedelta(hours=number)
        shipment.updates.create(
            digest=bytes([number]) * 16, occurred_at=at, status=status, location="León"
        )
    ticket = build.ticket(company, type_id=5, shipment_id=shipment.pk, comments="Llegó roto.")
    amounts = Amounts(Decimal("4850.5"), Decimal(1200), None, "MXN")
    set_amounts(ticket.pk, amounts, user=lead)
    return working.move(ticket.pk, Status.INCOMPLETE, user=lead, reason="Falta una foto.")


def claim_file(browser: Client, ticket: Ticket, language: str, copy: str, form: str = "pdf") -> Any:
    form_data = {"language": language, "for": copy, "as": form}
    return browser.post(f"{LIST}{ticket.pk}/claim-file/", form_data)


def on_desk(browser: Client, lead: User, ticket: Ticket, language: str) -> Reading:
    Preferences.objects.update_or_create(user=lead, defaults={"language": language})
    cache.clear()
    html = browser.get(f"{LIST}{ticket.pk}/change/").content.decode()
    deadline, opened = (
        {"en": "Claim deadline", "es": "Límite del reclamo"}[language],
        {"en": "Opened", "es": "Abierto"}[language],
    )
    match = re.search(rf"({'|'.join(ZONES)}), UTC", html, re.IGNORECASE)
    assert match is not None
    zone = match[1].replace("Hora", "hora")
    form = {"en": "%Y-%m-%d %H:%M", "es": "%d/%m/%Y %H:%M"}[language]

    def shown_at(label: str) -> tuple[str, datetime]:
        match = re.search(rf'{label}</.*?<time datetime="([^"]+)">([^<]+)<', html, re.DOTALL)
        assert match is not None
        here = datetime.strptime(match[2], form).replace(tzinfo=ZoneInfo(ZONES[zone]))
        # The machine-readable time equals the text.
        assert datetime.fromisoformat(match[1]).replace(second=0, microsecond=0) == here
        return f"{match[2]} ({zone})", here

    money = re.search(r'<dd class="desk-money">([^<]+)</dd>', html)
    assert money is not None
    words, due = shown_at(deadline)
    return Reading(words, due, shown_at(opened)[1], money[1], as_amount(money[1]))


def in_email(ticket: Ticket) -> Reading:
    text = " ".join(str(Mail.objects.get().secret_text).split())
    (due,) = moments_in(text, "es")
    words = re.search(r"Responda .*? antes del (.*?\))", text)
    assert words is not None
    return Reading(words[1], due, None, "-", None)


def in_pdf(browser: Client, ticket: Ticket) -> Reading:
    text, _ = text_of(b"".join(claim_file(browser, ticket, "es", "company").streaming_content))
    due, opened, money = (
        re.search(rf"{label} (.*?{end})", text)
        for label, end in (
            ("Límite del reclamo", r"\)"),
            ("Abierto", r"\)"),
            ("Reclamado", "MXN"),
        )
    )
    assert due is not None
    assert opened is not None
    assert money is not None
    return Reading(
        due[1],
        moments_in(due[1], "es")[0],
        moments_in(opened[1], "es")[0],
        money[1],
        as_amount(money[1]),
    )


def exported(browser: Client) -> list[dict[str, str]]:
    answer = browser.get(f"{LIST}export/", {"queue": "everything"})
    text = answer.getvalue().decode()
    assert text.startswith("\ufeff")
    return list(csv.DictReader(StringIO(text.removeprefix("\ufeff"), newline="")))


def in_csv(browser: Client) -> Reading:
    (row,) = exported(browser)
    due, opened = row["límite del reclamo (hora de Madrid)"], row["abierto (hora de Madrid)"]
    return Reading(
        due,
        datetime.fromisoformat(due),
        datetime.fromisoformat(opened),
        f"{row['reclamado']} {row['moneda']}",
        Decimal(row["reclamado"]),
    )


def by_api(api: APIClient, ticket: Ticket) -> Reading:
    (row,) = api.get(f"/company/tickets/{ticket.pk}").json()["data"]
    due, opened = (
        datetime.fromisoformat(row[name]).replace(tzinfo=UTC)
        for name in ("claim_deadline", "created_at")
    )
    claimed = row["amounts"]["claimed"]
    amount = f"{claimed} {row['amounts']['currency']}"
    return Reading(f"{row['claim_deadline']} (UTC)", due, opened, amount, Decimal(str(claimed)))


def as_amount(text: str) -> Decimal:
    """English writes 4,850.50 MXN, Mexican Spanish $4,850.50 MXN."""
    number, currency = unescape(text).removeprefix("$").split()
    assert currency == "MXN"
    assert re.fullmatch(r"\d{1,3}(,\d{3})*\.\d\d", number)
    return Decimal(number.replace(",", ""))


def test_six_places_tell_one_deadline_one_amount_and_one_opening(
    browser: Client, lead: User, company: Company, api: APIClient
) -> None:
    due = near_midnight(MEXICO)
    ticket = incomplete_ticket(company, lead, due)

    places = {
        "desk, English": on_desk(browser, lead, ticket, "en"),
        "desk, Spanish": on_desk(browser, lead, ticket, "es"),
        "e-mail": in_email(ticket),
        "PDF": in_pdf(browser, ticket),
        "CSV": in_csv(browser),
        "API": by_api(api, ticket),
    }

    print()
    for name, one in places.items():
        utc = one.due.astimezone(UTC)
        print(f"{name:14} {one.deadline:72} {utc:%Y-%m-%d %H:%M} UTC  {one.amount}")
    minute = ticket.created_at.replace(second=0, microsecond=0)
    assert {one.due for one in places.values()} == {due}
    assert {one.claimed for one in places.values() if one.claimed} == {Decimal("4850.50")}
    opened = [one.opened for one in places.values() if one.opened]
    assert {at.replace(second=0, microsecond=0) for at in opened} == {minute}
    # Letters name the company's day and the desk names the reader's, which differ.
    days = (one.due.date() - due.date() for one in places.values())
    assert [one.days for one in days] == [1, 1, 0, 0, 1, 1]


def test_a_lead_elsewhere_reads_what_the_company_was_told(
    browser: Client, lead: User, company: Company
) -> None:
    ticket = incomplete_ticket(company, lead, near_midnight(MEXICO))

    elsewhere = browser.get(f"{LIST}{ticket.pk}/change/").content.decode()
    Agent.objects.update(time_zone=MEXICO.key)
    cache.clear()
    there = browser.get(f"{LIST}{ticket.pk}/change/").content.decode()

    (moment,) = moments_in(elsewhere, "en")
    assert moment == ticket.filing_due_at
    assert "For the company: " not in there.replace("\n", "")
    assert moments_in(there, "en") == []


@pytest.mark.parametrize(
    ("zone", "deployment", "expected_zone"),
    [
        ("Asia/Kathmandu", "UTC", "hora de Kathmandu"),
        ("", "America/Mexico_City", "hora del centro"),
        ("Mars/Base", "Europe/Madrid", "hora de Madrid"),
        ("../etc/passwd", "UTC", "UTC"),
    ],
)
def test_letter_and_claim_file_are_in_the_zone_of_the_company_else_of_the_deployment(
    browser: Client,
    lead: User,
    company: Company,
    settings: Settings,
    zone: str,
    deployment: str,
    expected_zone: str,
) -> None:
    settings.DESK_TIME_ZONE = deployment
    # Old rows may hold a zone that no form has validated.
    Company.objects.filter(pk=company.pk).update(time_zone=zone)
    due = near_midnight(ZoneInfo(ZONES[expected_zone]))
    ticket = incomplete_ticket(Company.objects.get(pk=company.pk), lead, due)

    letter = " ".join(str(Mail.objects.get().secret_text).split())
    pdf, _ = text_of(b"".join(claim_file(browser, ticket, "es", "company").streaming_content))

    assert (moments_in(letter, "es"), f"({expected_zone})" in letter) == ([due], True)
    assert due in moments_in(pdf, "es")
    assert "Soporte ·" in pdf
    assert f"Cuándo ({expected_zone})" in pdf


def test_claim_file_of_a_company_in_an_unknown_language_is_in_english_and_its_zone(
    browser: Client, lead: User, company: Company, settings: Settings
) -> None:
    settings.DESK_TIME_ZONE = "America/Mexico_City"
    Company.objects.filter(pk=company.pk).update(language="pt", time_zone="UTC")
    due = near_midnight(UTC)
    ticket = incomplete_ticket(Company.objects.get(pk=company.pk), lead, due)

    pdf, _ = text_of(b"".join(claim_file(browser, ticket, "en", "company").streaming_content))

    assert (due in moments_in(pdf, "en"), "When (UTC)" in pdf) == (True, True)
    assert Company.objects.get(pk=company.pk).written_language == "en"


def test_a_zone_that_nobody_knows_shuts_no_agent_out(browser: Client, settings: Settings) -> None:
    settings.DESK_TIME_ZONE = "America/Mexico_City"
    Agent.objects.update(time_zone="Mars/Base")
    cache.clear()

    assert "Central Time, UTC-06:00" in browser.get(LIST).content.decode()


def test_a_clock_that_is_put_back_tells_which_of_two_times(lead: User, company: Company) -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)

    texts = [moment_text(first + timedelta(hours=n), MADRID) for n in range(3)]

    assert [one.partition("(")[2] for one in texts] == [
        "Madrid time, UTC+02:00)",
        "Madrid time, UTC+01:00)",
        "Madrid time)",
    ]


# Texts that stay between the company and us, in either language.
OURS = (
    r"Límite|deadline|Estado\b(?! Descripción)|Motivo|Código|Ofrecido|Offered|Pagado|Decidido"
    r"|Decided|Falta una foto|Support|webhook|X-Webhook|1,200"
)


def test_carrier_s_copy_is_the_claim_and_nothing_of_ours(
    browser: Client, lead: User, company: Company, birch: Company, api: APIClient
) -> None:
    build.webhook(company)
    ticket = incomplete_ticket(company, lead, near_midnight(MEXICO))
    incomplete_ticket(birch, lead, near_midnight(MADRID), 4102)
    api.post("/company/tickets/comments", {"ticket_id": ticket.pk, "text": "Aquí está."})
    working.write(ticket.pk, "Revisamos su caso.", user=lead, public=True)

    pdf, _ = text_of(b"".join(claim_file(browser, ticket, "es", "carrier").streaming_content))
    archive = unpacked(claim_file(browser, ticket, "es", "carrier", "zip"))
    without_choice = claim_file(browser, ticket, "es", "")

    assert not re.findall(OURS, pdf)
    assert "Revisamos" not in pdf
    for said in ("Llegó roto.", "Reclamado $4,850.50 MXN", "Recolectado", "En ruta de entrega"):
        assert said in pdf, said
    # A status that our table does not have stays as the carrier sent it.
    assert "en_bodega León" in pdf
    assert "(hora del centro)" in pdf
    assert set(archive) == {f"claim-{ticket.pk}.pdf", "scans.csv"}
    (first, *_) = csv.DictReader(archive["scans.csv"].decode("utf-8-sig").splitlines())
    assert first["Cuándo (hora del centro)"].endswith("-06:00")
    assert not re.findall(OURS, text_of(b"".join(without_choice.streaming_content))[0])


def test_export_is_in_the_reader_s_language_and_zone(
    browser: Client, lead: User, company: Company, birch: Company
) -> None:
    due = near_midnight(MEXICO)
    mine = incomplete_ticket(company, lead, due)
    incomplete_ticket(birch, lead, due, 4102)
    # Nothing is shown about another company's parcel.
    guessed = build.ticket(birch, shipment_id=4101, decided_by=lead)
    Preferences.objects.create(user=lead, language="es")
    cache.clear()

    answer = browser.get(f"{LIST}export/", {"queue": "everything"})
    rows = {row["ticket"]: row for row in exported(browser)}

    now = datetime.now(MADRID)
    assert f"tickets-{now:%Y-%m-%d-%H}" in answer["Content-Disposition"]
    row = rows[str(mine.pk)]
    assert {
        name: row[name]
        for name in (
            "tipo",
            "estado",
            "número de guía",
            "reclamado",
            "ofrecido",
            "pagado",
            "moneda",
        )
    } == {
        "tipo": "daño",
        "estado": "Incompleto",
        "número de guía": "TEST0004101",
        "reclamado": "4850.50",
        "ofrecido": "1200.00",
        "pagado": "",
        "moneda": "MXN",
    }
    other = rows[str(guessed.pk)]
    assert (row["decisión de"], other["decisión de"], other["número de guía"]) == ("", "eve", "")
    assert datetime.fromisoformat(row["límite del reclamo (hora de Madrid)"]) == due


def test_audit_is_in_the_reader_s_language_and_zone_to_the_last_line(operator: Client) -> None:
    root = User.objects.get(username="root")
    Preferences.objects.create(user=root, language="es", time_zone="Asia/Kathmandu")
    for number in range(3):
        audit.record_act(
            "create_company", actor="ada", via=AuditEntry.Via.COMMAND, about=str(number)
        )

    text = operator.get("/admin/audit.csv").getvalue().decode().removeprefix("\ufeff")

    rows = list(csv.DictReader(StringIO(text, newline="")))
    assert len(rows) == 3
    assert {row["Cuándo (hora de Kathmandu)"][-6:] for row in rows} == {"+05:45"}
