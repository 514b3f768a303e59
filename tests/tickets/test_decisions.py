"""Decisions carry a reason code and optional amounts; a limit bounds what agents accept (N19)."""

from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.tickets.test_detail import ticket_data
from tickets import working
from tickets.changes.decisions import Decision, set_amounts
from tickets.changes.page_tokens import page_token_of
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import Agent, ApprovalLimit, Comment, HistoryEntry, ReasonCode, Ticket
from tickets.money import Amounts
from tickets.statuses import Status

EUR = {"currency": "EUR"}
ALL = Amounts(Decimal("120.50"), Decimal(80), Decimal(0), "EUR")


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=5, status=Status.IN_REVIEW)


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead."""
    return build.agent("eve", group="lead").user


def decide(
    ticket: Ticket, agent: User, to: Status, code: str = "", amounts: Amounts | None = None
) -> Ticket:
    decision = Decision(code=code, amounts=amounts)
    return working.move(ticket.pk, to, user=agent, reason="Why.", decision=decision)


def refusal(ticket: Ticket, agent: User, to: Status, **choices: Any) -> str:
    """Return the refusal's message, after checking that nothing was stored."""
    before = Ticket.objects.values().get()
    with pytest.raises(MoveRefused) as error:
        decide(ticket, agent, to, **choices)
    assert Ticket.objects.values().get() == before
    assert not HistoryEntry.objects.exists()
    assert not Comment.objects.exists()
    return str(error.value)


def test_a_decision_without_a_code_is_for_another_reason_and_an_open_ticket_has_none(
    agent: Agent, eve: User, ticket: Ticket
) -> None:
    assert decide(ticket, agent.user, Status.DECLINED).reason_code == "other"
    assert HistoryEntry.objects.latest("pk").data == {"code": "other"}

    assert decide(ticket, eve, Status.IN_REVIEW).reason_code == ""
    ticket.refresh_from_db()
    assert ticket.reason_code == ""


def test_the_company_sees_the_code_and_the_amounts(
    api: APIClient, agent: Agent, ticket: Ticket
) -> None:
    assert (ticket_data(api, ticket.pk)["reason_code"], ticket_data(api, ticket.pk)["amounts"]) == (
        None,
        None,
    )

    decide(ticket, agent.user, Status.ACCEPTED, "damage_confirmed", ALL)

    amounts = {"claimed": 120.5, "offered": 80, "paid": 0, "currency": "EUR"}
    (listed,) = api.get("/company/tickets").json()["data"]
    for row in (ticket_data(api, ticket.pk), listed):
        assert (row["reason_code"], row["amounts"]) == ("damage_confirmed", amounts)
    kinds = [(one.kind, one.public) for one in HistoryEntry.objects.order_by("pk")]
    assert kinds == [("amounts_changed", False), ("moved", True)]


@pytest.mark.parametrize(
    ("to", "code"),
    [
        (Status.ACCEPTED, "packaging"),
        (Status.DECLINED, "goodwill"),
        (Status.DECLINED, "no_such"),
        (Status.DECLINED, "old"),
        (Status.DECLINED, "for_credits"),
    ],
)
def test_a_code_that_does_not_fit_is_refused_with_those_that_do(
    agent: Agent, ticket: Ticket, to: Status, code: str
) -> None:
    ReasonCode.objects.create(code="old", for_declined=True, active=False)
    ReasonCode.objects.create(code="for_credits", for_declined=True).types.add(24)
    ReasonCode.objects.create(code="for_damage", for_declined=True).types.add(5)

    message = refusal(ticket, agent.user, to, code=code)

    assert message.startswith(
        f"Reason code: there is no {code} for {to.label} on tickets of type dam"
    )
    offered = message.partition("Choose one of: ")[2].removesuffix(".").split(", ")
    assert code not in offered
    assert {"other", "goodwill" if to == Status.ACCEPTED else "for_damage"} <= {*offered}


def test_a_code_goes_with_a_decision_only(agent: Agent, ticket: Ticket) -> None:
    message = refusal(ticket, agent.user, Status.INCOMPLETE, code="packaging")

    assert message == "Reason code: a move to Incomplete has none."


@pytest.mark.usefixtures("agent")
def test_the_command_takes_a_code_and_names_the_choices(ticket: Ticket) -> None:
    def move(code: str) -> None:
        reason = {"agent": "ada", "reason": "Why.", "stdout": StringIO()}
        call_command("move_ticket", ticket.pk, 3, code=code, **reason)

    with pytest.raises(CommandError, match=r"Reason code: .* Choose one of: .*packaging"):
        move("nope")
    move("packaging")

    ticket.refresh_from_db()
    assert (ticket.status, ticket.reason_code) == (Status.DECLINED, "packaging")


@pytest.mark.parametrize(
    ("amounts", "says"),
    [
        (Amounts(Decimal(-1), **EUR), "Claimed: enter an amount from 0 to 10,000,000,000."),
        (Amounts(None, Decimal(10**10 + 1), **EUR), "Offered: enter an amount from 0"),
        (Amounts(None, None, Decimal("NaN"), "EUR"), "Paid: enter an amount from 0"),
        (Amounts(Decimal("0.0001"), **EUR), "Claimed: enter at most 3 decimal places."),
        (Amounts(Decimal(1)), "Currency: enter the currency of the amounts."),
        (Amounts(Decimal(1), currency="EURO"), "Currency: enter an ISO 4217 code"),
    ],
)
def test_invalid_amount_is_refused_at_its_field(
    agent: Agent, ticket: Ticket, amounts: Amounts, says: str
) -> None:
    assert refusal(ticket, agent.user, Status.ACCEPTED, amounts=amounts).startswith(says)


def test_largest_and_smallest_amounts_are_read_back_unchanged(
    api: APIClient, agent: Agent, ticket: Ticket
) -> None:
    edges = Amounts(Decimal(10**10), Decimal("9999999999.999"), Decimal("0.001"), "KWD")

    set_amounts(ticket.pk, edges, user=agent.user)

    assert ticket_data(api, ticket.pk)["amounts"] == {
        "claimed": 10**10,
        "offered": 9999999999.999,
        "paid": 0.001,
        "currency": "KWD",
    }


def test_amounts_are_set_on_a_decided_ticket_too_and_kept_in_history(
    agent: Agent, eve: User, ticket: Ticket
) -> None:
    version = decide(ticket, agent.user, Status.ACCEPTED, amounts=ALL).version
    page_token = page_token_of(ticket)

    paid = Amounts(ALL.claimed, ALL.offered, Decimal(80), "EUR")
    after = set_amounts(ticket.pk, paid, user=agent.user, seen=page_token)
    set_amounts(ticket.pk, paid, user=agent.user, seen=page_token)

    assert after.version == version + 1
    entries = HistoryEntry.objects.filter(kind="amounts_changed").order_by("pk")
    assert [one.data["amounts"] for one in entries] == [
        {
            "claimed": [None, "120.5"],
            "offered": [None, "80"],
            "paid": [None, "0"],
            "currency": [None, "EUR"],
        },
        {"paid": ["0", "80"]},
    ]
    with pytest.raises(StaleTicket):
        set_amounts(ticket.pk, Amounts(), user=eve, seen=page_token)


def test_without_an_amount_there_is_no_currency(agent: Agent, ticket: Ticket) -> None:
    set_amounts(ticket.pk, ALL, user=agent.user)

    assert set_amounts(ticket.pk, Amounts(currency="EUR"), user=agent.user).currency == ""


@pytest.fixture
def limits(agent: Agent) -> None:
    ApprovalLimit.objects.create(currency="EUR", amount=100)
    ApprovalLimit.objects.create(currency="MXN", amount=2000)
    ApprovalLimit.objects.create(agent=agent, currency="EUR", amount=50)


def of(claimed: int | None, offered: int | None = None, currency: str = "EUR") -> Amounts:
    numbers = [None if one is None else Decimal(one) for one in (claimed, offered)]
    return Amounts(*numbers, None, currency)


@pytest.mark.usefixtures("limits")
def test_above_the_limit_only_a_lead_accepts(agent: Agent, eve: User, ticket: Ticket) -> None:
    accept = {"agent": agent.user, "to": Status.ACCEPTED}

    assert refusal(ticket, **accept, amounts=of(51)) == (
        "51.00 EUR is above your approval limit of 50.00 EUR. Ask a lead to accept this."
    )
    assert "above your approval limit" in refusal(ticket, **accept, amounts=of(40, 51))
    assert refusal(ticket, **accept, amounts=of(1, currency="USD")) == (
        "You have no approval limit in USD. Ask a lead to accept this."
    )
    build.agent("ben")
    other = User.objects.get(username="ben")
    assert "limit of 100.00 EUR" in refusal(ticket, other, Status.ACCEPTED, amounts=of(101))

    assert decide(ticket, eve, Status.ACCEPTED, amounts=of(5000)).status == Status.ACCEPTED


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("amounts", [of(50), of(5000, 50), of(2000, currency="MXN"), of(None), ALL])
def test_up_to_the_limit_an_agent_accepts(agent: Agent, ticket: Ticket, amounts: Amounts) -> None:
    if amounts is ALL:
        # Declining costs nothing, whatever was claimed.
        assert decide(ticket, agent.user, Status.DECLINED, amounts=ALL).status == Status.DECLINED
        return
    accepted = decide(ticket, agent.user, Status.ACCEPTED, amounts=amounts)
    assert accepted.status == Status.ACCEPTED


@pytest.mark.usefixtures("limits")
def test_an_accepted_amount_does_not_grow_beyond_the_limit_behind_a_leads_back(
    agent: Agent, eve: User, ticket: Ticket
) -> None:
    decide(ticket, agent.user, Status.ACCEPTED, amounts=of(5000, 50))

    for grown in (of(5000, 51), Amounts(None, Decimal(50), Decimal(51), "EUR")):
        with pytest.raises(MoveRefused, match="above your approval limit"):
            set_amounts(ticket.pk, grown, user=agent.user)
    ticket.refresh_from_db()
    assert ticket.amounts == of(5000, 50)

    assert set_amounts(ticket.pk, of(5000, 60), user=eve).amount_offered == 60


@pytest.mark.django_db
def test_ready_reason_codes_have_the_words_of_the_glossary() -> None:
    names = set(ReasonCode.objects.values_list("names__es", flat=True))

    assert {"Empaque insuficiente", "Reclamo fuera de plazo"} <= names
    assert not [name for name in names if "mbalaje" in name or "eclamación" in name]
