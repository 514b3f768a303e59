"""The claim on a ticket's page: reason codes, amounts, and what leads set up for them."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone, translation

from companies.models import Company
from desk.models import Macro
from tests import builders as build
from tests.desk.forms import picked, token
from tickets.models import Agent, ApprovalLimit, HistoryEntry, ReasonCode, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
AMOUNTS = {"claimed": "120.5", "offered": "80", "paid": "", "currency": "eur"}


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=5, status=Status.IN_REVIEW)


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)
    return client


def page(desk: Client, ticket: Ticket) -> str:
    return desk.get(f"{LIST}{ticket.pk}/change/").content.decode()


def save(desk: Client, ticket: Ticket, **changes: Any) -> HttpResponse:
    form = {"seen": token(ticket), **AMOUNTS, **changes}
    return desk.post(f"{LIST}{ticket.pk}/amounts/", form)


def test_amounts_are_saved_and_shown(desk: Client, ticket: Ticket) -> None:
    assert save(desk, ticket).status_code == 302

    ticket.refresh_from_db()
    assert (ticket.amount_claimed, ticket.amount_offered) == (Decimal("120.5"), Decimal(80))
    html = page(desk, ticket)
    assert "120.50 EUR" in html
    assert "80.00 EUR" in html
    assert "ada changed the amounts: claimed none → 120.50, offered none → 80.00" in html


def test_invalid_amounts_stay_in_their_boxes(desk: Client, ticket: Ticket) -> None:
    HistoryEntry.objects.create(
        ticket=ticket, by="company", now=ticket.status, kind="moved", created_at=timezone.now()
    )
    for status, changes, says in (
        (400, {"claimed": "lots"}, "Claimed: Enter a number."),
        (409, {"currency": "XXX"}, "Currency: enter an ISO 4217 code"),
        (409, {"seen": f"{ticket.pk}-0-0"}, "There is something new on this ticket."),
    ):
        answer = save(desk, ticket, **changes)

        html = answer.content.decode()
        assert (answer.status_code, says in html) == (status, True)
        assert f'value="{changes.get("claimed", "120.5")}"' in html
    assert Ticket.objects.get().amount_claimed is None
    assert HistoryEntry.objects.count() == 1


def test_a_dialog_offers_the_codes_of_its_decision_and_its_type(
    desk: Client, ticket: Ticket
) -> None:
    ReasonCode.objects.create(code="credit", names={"en": "Credits!"}, for_declined=True).types.add(
        24
    )

    html = page(desk, ticket)

    declining = html.partition('id="move-declined"')[2].partition("</fieldset>")[0]
    assert "Insufficient packaging" in declining
    assert "Goodwill" not in declining
    assert re.findall(r"<kbd>(.)</kbd> <span>(Insuff|Other)", declining) == [
        ("b", "Insuff"),
        ("l", "Other"),
    ]
    assert " checked" not in declining
    assert "Credits!" not in html
    # Without JavaScript the link leads to a page that asks the same.
    alone = desk.get(f"{LIST}move/3/", {"ticket": ticket.pk}).content.decode()
    assert "Insufficient packaging" in alone
    assert 'name="offered"' in alone


def test_a_decision_takes_its_code_and_amounts_along(desk: Client, ticket: Ticket) -> None:
    form = {**picked(ticket), "code": "goodwill", **AMOUNTS}

    assert desk.post(f"{LIST}move/2/", form).status_code == 302

    ticket.refresh_from_db()
    assert (ticket.reason_code, ticket.currency) == ("goodwill", "EUR")
    html = page(desk, ticket)
    assert "Goodwill" in html
    assert "Reason code: Goodwill" in html


def test_a_reply_that_decides_takes_a_code_along(desk: Client, ticket: Ticket) -> None:
    form = {"text": "No.", "reply": "1", "to": "3", "code": "packaging", "seen": token(ticket)}

    assert desk.post(f"{LIST}{ticket.pk}/write/", form).status_code == 302

    ticket.refresh_from_db()
    assert (ticket.status, ticket.reason_code) == (Status.DECLINED, "packaging")


def test_many_tickets_are_decided_with_one_code_and_without_amounts(
    desk: Client, company: Company, ticket: Ticket
) -> None:
    ticket.amount_claimed, ticket.currency = Decimal(5), "EUR"
    ticket.save()
    others = [ticket, build.ticket(company, type_id=24, status=Status.IN_REVIEW)]
    ReasonCode.objects.create(
        code="one_type", names={"en": "One type"}, for_declined=True
    ).types.add(5)

    html = desk.get(f"{LIST}move/3/", {"ticket": [one.pk for one in others]}).content.decode()
    assert 'name="code"' in html
    assert 'name="offered"' not in html
    assert "One type" not in html
    desk.post(f"{LIST}move/3/", {**picked(*others), "reason": "No.", "code": "packaging"})

    decided = Ticket.objects.order_by("pk").values_list("reason_code", "amount_claimed")
    assert [*decided] == [("packaging", 5), ("packaging", None)]


def test_a_refused_decision_keeps_what_was_chosen_and_typed(
    desk: Client, agent: Agent, ticket: Ticket
) -> None:
    ApprovalLimit.objects.create(agent=agent, currency="EUR", amount=50)
    form = {**picked(ticket), "code": "goodwill", **AMOUNTS}

    answer = desk.post(f"{LIST}move/2/", form)

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "80.00 EUR is above your approval limit of 50.00 EUR. Ask a lead to accept this." in html
    assert 'value="goodwill" checked' in html
    assert 'value="120.5"' in html


@pytest.mark.parametrize("to", [Status.ACCEPTED, Status.DECLINED])
@pytest.mark.parametrize("by", ["dialog", "composer", "bulk"])
def test_no_decision_leaves_the_desk_without_a_code(
    desk: Client, company: Company, ticket: Ticket, to: Status, by: str
) -> None:
    others = [ticket, build.ticket(company, status=Status.IN_REVIEW)][: 1 + (by == "bulk")]
    if by == "composer":
        form = {"text": "My <long> text.", "reply": "1", "to": to.value, "seen": token(ticket)}
        answer = desk.post(f"{LIST}{ticket.pk}/write/", form)
    else:
        form = {**picked(*others), "reason": "My <long> text.", "code": ""}
        answer = desk.post(f"{LIST}move/{to.value}/", form)

    html = answer.content.decode()
    assert answer.status_code == 400
    assert "Reason code: choose one." in html
    assert "My &lt;long&gt; text.</textarea>" in html
    assert not HistoryEntry.objects.exists()
    assert not Ticket.objects.exclude(status=Status.IN_REVIEW).exists()


def test_a_macro_brings_its_code_where_it_fits(desk: Client, ticket: Ticket) -> None:
    packaging = ReasonCode.objects.get(code="packaging")
    one = build.macro("No", text="No.", move_to=Status.DECLINED, reason_code=packaging)
    for fits in (True, False):
        html = desk.get(f"{LIST}{ticket.pk}/change/", {"macro": one.pk}).content.decode()
        assert 'data-code="packaging"' in html
        composer = html.partition('id="composer"')[2].partition("</form>")[0]
        assert ('value="packaging" checked' in composer) is fits
        ReasonCode.objects.filter(pk=packaging.pk).update(active=False)


def test_leads_give_a_macro_a_code_of_its_decision(lead: Client) -> None:
    codes = {one.code: one.pk for one in ReasonCode.objects.all()}
    body = {"name": "No", "text": "No.", "public": "on", "active": "on"}
    add = "/admin/desk/macro/add/"
    for move_to, code in (("3", "goodwill"), ("4", "packaging"), ("", "packaging")):
        refused = lead.post(add, {**body, "move_to": move_to, "reason_code": codes[code]})
        assert "Choose a code that fits the status" in refused.content.decode()
    assert not Macro.objects.exists()

    answer = lead.post(add, {**body, "move_to": "3", "reason_code": codes["packaging"]})
    assert answer.status_code == 302
    macro = Macro.objects.get()
    assert macro.reason_code.code == "packaging"
    change = f"/admin/desk/macro/{macro.pk}/change/"
    lead.post(change, {**body, "move_to": "3", "reason_code": codes["other"]})
    assert "Reason code" in LogEntry.objects.get(action_flag=CHANGE).get_change_message()


def test_only_leads_set_codes_and_limits(desk: Client, lead: Client) -> None:
    code = {"code": "weather", "names_en": "Weather", "names_es": "Clima", "position": 5}
    for page_of in ("reasoncode", "approvallimit"):
        assert desk.get(f"/admin/tickets/{page_of}/").status_code == 403
        assert lead.get(f"/admin/tickets/{page_of}/").status_code == 200

    add = "/admin/tickets/reasoncode/add/"
    assert "Choose Accepted, Declined or both." in lead.post(add, code).content.decode()
    assert lead.post(add, {**code, "for_declined": "on", "active": "on"}).status_code == 302
    assert ReasonCode.objects.get(code="weather").names == {"en": "Weather", "es": "Clima"}

    limit = {"amount": "100", "currency": "eur"}
    add = "/admin/tickets/approvallimit/add/"
    assert "ISO 4217" in lead.post(add, {**limit, "currency": "XXX"}).content.decode()
    assert lead.post(add, limit).status_code == 302
    assert str(ApprovalLimit.objects.get()) == "all agents: 100.00 EUR"


def test_a_code_has_a_name_in_english_and_in_languages_of_the_desk(lead: Client) -> None:
    add = "/admin/tickets/reasoncode/add/"
    code = {"code": "weather", "for_declined": "on", "active": "on", "position": 5}

    refused = lead.post(add, {**code, "names_es": "Clima"})
    assert list(refused.context["adminform"].form.errors) == ["names_en"]
    assert lead.post(add, {**code, "names_en": "Weather"}).status_code == 302

    weather = ReasonCode.objects.get(code="weather")
    with translation.override("es"):
        assert str(weather) == "Weather"
    weather.names["zxx"] = "?"
    with pytest.raises(ValidationError, match="There is no language zxx"):
        weather.full_clean()


def test_code_other_cannot_be_switched_off_or_deleted(lead: Client) -> None:
    other = ReasonCode.objects.get(code="other")
    change = f"/admin/tickets/reasoncode/{other.pk}/"
    form = {"names_en": "Other", "names_es": "Otro", "for_accepted": "on", "position": 5}

    answer = lead.post(f"{change}change/", form)

    assert "stays active" in answer.content.decode()
    assert lead.post(f"{change}delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    ("data", "charged", "currency"),
    [
        ('{"value": 10, "currency": "mxn"}', "USD", "MXN"),
        ('{"pedido": {"Moneda": "COP"}}', "", "COP"),
        ('{"currency": "pesos"}', "USD", "USD"),
        ("no json", "", ""),
        ('{"size": "TOP"}', "", ""),
    ],
)
def test_currency_is_guessed_from_the_ticket(
    desk: Client, company: Company, data: str, charged: str, currency: str
) -> None:
    parcel = build.shipment(company, 4101)
    if charged:
        charge = {"surcharge_id": 1, "shipment_id": parcel.pk, "surcharge_type": "Remote area"}
        money = {"amount": 4, "currency": charged, "transaction_type": "surcharge"}
        build.fact("surcharge", **charge, **money, reason="Far away")
    ticket = build.ticket(company, status=Status.IN_REVIEW, shipment_id=4101, data=data)

    html = page(desk, ticket)
    assert f'placeholder="for example EUR" value="{currency}"' in html
    # Nothing is stored until somebody enters an amount.
    save(desk, ticket, claimed="", offered="", currency=currency)
    ticket.refresh_from_db()
    assert ticket.currency == ""
