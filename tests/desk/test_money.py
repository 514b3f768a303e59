"""Amounts of money are read with the decimals of their currency in every place."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from companies.models import Company
from core.values.currencies import CURRENCIES
from core.values.money import money_text
from desk.claim_file.contents import cover, read_claim
from desk.reports.cells import share_cell
from tests import builders as build
from tests.desk.test_queues import LIST
from tickets.changes.decisions import Decision, set_amounts
from tickets.changes.writes import MoveRefused
from tickets.models import Agent, ApprovalLimit
from tickets.money import Amounts
from tickets.statuses import Status
from tickets.working import move

# An amount, its currency, and how English writes it; Mexican Spanish adds the sign of pesos.
READ = [
    ("5800", "JPY", "5,800 JPY"),
    ("5800.000", "CLP", "5,800 CLP"),
    ("1234567", "KRW", "1,234,567 KRW"),
    ("1.5", "KWD", "1.500 KWD"),
    ("0.075", "BHD", "0.075 BHD"),
    ("12.5", "EUR", "12.50 EUR"),
    ("1200", "MXN", "1,200.00 MXN"),
    ("12.345", "EUR", "12.345 EUR"),
    ("0.5", "JPY", "0.5 JPY"),
    ("0", "JPY", "0 JPY"),
    ("7", "XCG", "7.00 XCG"),
]


@pytest.mark.parametrize(("amount", "currency", "text"), READ)
def test_every_currency_has_its_decimals(amount: str, currency: str, text: str) -> None:
    with override("en"):
        assert money_text(Decimal(amount), currency) == text
    with override("es-mx"):
        assert money_text(Decimal(amount), currency) == ("$" if currency == "MXN" else "") + text


def test_a_currency_of_a_stored_row_that_nobody_knows_has_two_decimals() -> None:
    assert "QQQ" not in CURRENCIES
    assert money_text(Decimal(3), "QQQ") == "3.00 QQQ"


@pytest.mark.parametrize(
    ("currency", "claimed", "offered", "cells"),
    [
        ("JPY", "5,800 JPY", "5,000 JPY", "5800,5000,0"),
        ("KWD", "5,800.000 KWD", "5,000.000 KWD", "5800.000,5000.000,0.000"),
    ],
)
def test_a_claim_is_read_alike_everywhere(
    desk: Client, company: Company, currency: str, claimed: str, offered: str, cells: str
) -> None:
    lead = Client()
    user = build.agent("eve", group="lead", available=False).user
    lead.force_login(user)
    ticket = build.ticket(
        company, status=Status.IN_REVIEW, filing_due_at=timezone.now() + timedelta(days=1)
    )
    amounts = Amounts(Decimal(5800), Decimal(5000), None, currency)
    set_amounts(ticket.pk, amounts, user=user)
    ticket.refresh_from_db()

    assert claimed in desk.get(LIST, {"queue": "to-file"}).content.decode()
    move(ticket.pk, Status.ACCEPTED, user=user, reason="Yes.")
    page = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    assert (f">{claimed}<" in page, f">{offered}<" in page) == (True, True)
    covered = [text for _, text in cover(read_claim(ticket)) if currency in text]
    assert covered == [claimed, offered]
    report = lead.get("/admin/reports/").content.decode()
    assert f">{claimed.split()[0]}<" in report.replace("\n", "")
    file = b"".join(lead.get("/admin/reports/money.csv")).decode()
    assert f"{currency},all,1,{cells}" in file


def test_limits_are_read_with_their_currency(desk: Client, agent: Agent, company: Company) -> None:
    ApprovalLimit.objects.create(agent=agent, currency="JPY", amount=5000)
    ticket = build.ticket(company, status=Status.IN_REVIEW)
    amounts = Amounts(Decimal(5800), None, None, "JPY")

    with pytest.raises(MoveRefused, match="5,800 JPY is above your approval limit of 5,000 JPY"):
        move(
            ticket.pk,
            Status.ACCEPTED,
            user=agent.user,
            reason="Yes.",
            decision=Decision(amounts=amounts),
        )

    assert str(ApprovalLimit.objects.get()) == "ada: 5,000 JPY"
    desk.force_login(build.agent("eve", group="lead", available=False).user)
    assert ">5,000<" in desk.get("/admin/tickets/approvallimit/").content.decode()


@pytest.mark.parametrize(("language", "sign"), [("es", "$"), ("en", "")])
def test_numbers_have_a_point_and_commas_as_in_mexico(language: str, sign: str) -> None:
    with override(language):
        assert money_text(Decimal("4850.5"), "MXN") == f"{sign}4,850.50 MXN"
        assert money_text(Decimal(-12), "USD") == f"-{sign}12.00 USD"
        assert money_text(Decimal(5800), "JPY") == "5,800 JPY"
        assert share_cell(384, 1000).text == "38.4 %"
