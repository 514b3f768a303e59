"""What a ticket is about as a claim: reason codes to choose from, amounts and their words."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext

from core.values.currencies import CURRENCIES, plain_number
from core.values.money import money_number, money_text
from desk.ticket import values
from shipments.models import Surcharge
from tickets.changes.required_documents import required_of
from tickets.models import HistoryEntry, ReasonCode, Ticket
from tickets.money import Amounts
from tickets.statuses import ASKING, TERMINAL, By, Status, allows

# Names of the currency in companies' variables.
CURRENCY_KEYS = ("currency", "currency_code", "moneda", "divisa")


def required_context(ticket: Ticket, *, may_work: bool) -> dict[str, Any]:
    """The required documents, and how to ask in one act for those that are missing."""
    required = required_of(ticket)
    missing = [one.name for one in required if one.is_missing]
    now = Status(ticket.status)
    by_move = may_work and any(allows(now, to, By.AGENT) for to in ASKING)
    return {
        "required": required,
        "missing": missing,
        "may_ask": now not in TERMINAL,
        "ask_by_move": by_move,
        "ask_key": uuid4() if missing else None,
    }


def codes_for(to: Status, known: Iterable[ReasonCode]) -> list[ReasonCode]:
    return [one for one in known if one.decides(to)]


def code_names(ticket: Ticket, history: Iterable[HistoryEntry]) -> dict[str, str]:
    """What the codes of a ticket's decisions are called, also of those no longer offered."""
    codes = {ticket.reason_code, *(entry.data.get("code", "") for entry in history)} - {""}
    if not codes:
        return {}
    named = {one.code: str(one) for one in ReasonCode.objects.filter(code__in=codes)}
    return {code: named.get(code, code) for code in codes}


def asked_of_decision(to: Status, tickets: Sequence[Ticket], form: forms.Form) -> dict[str, Any]:
    """What a dialog asks of a decision: of several tickets only the code."""
    if to not in TERMINAL:
        return {}
    known = ReasonCode.objects.about(one.type_id for one in tickets)
    chosen = form["code"].value() if form.is_bound else ""
    asked = {"codes": codes_for(to, known), "chosen_code": chosen}
    if len(tickets) != 1:
        return asked
    return {**asked, "amounts": amount_values(tickets[0], form if form.is_bound else None)}


def amount_values(ticket: Ticket, form: forms.Form | None) -> dict[str, str]:
    """What stands in the boxes: what was typed, else what the ticket has."""
    if form is not None and "currency" in form.data:
        return {
            name: form[name].value() or "" for name in ("claimed", "offered", "paid", "currency")
        }
    amounts = ticket.amounts
    numbers = {name: "" if one is None else plain_number(one) for name, one in amounts}
    return {**numbers, "currency": amounts.currency or likely_currency(ticket)}


def likely_currency(ticket: Ticket) -> str:
    """The one that the ticket's variables name, else that of the parcel's charges, else nothing."""
    named = [
        row.text.strip().upper()
        for row in values.variables(ticket.data).rows
        if row.key.strip().lower() in CURRENCY_KEYS
    ]
    if found := [code for code in named if code in CURRENCIES]:
        return found[0]
    charges = Surcharge.objects.filter(
        shipment=ticket.shipment_id, shipment__company=ticket.company_id
    )
    return charges.order_by("-pk").values_list("currency", flat=True).first() or ""


def amount_lines(amounts: Amounts) -> list[tuple[str, str]]:
    """The amounts that are known, each with its name."""
    names = {"claimed": gettext("Claimed"), "offered": gettext("Offered"), "paid": gettext("Paid")}
    return [
        (names[name], money_text(amount, amounts.currency))
        for name, amount in amounts
        if amount is not None
    ]


def changed_amounts(entry: HistoryEntry) -> str:
    """The amounts of an entry of history, before and after."""
    changed = entry.data.get("amounts") or {}
    currency = entry.ticket.currency if changed else ""
    names = {
        "claimed": gettext("claimed"),
        "offered": gettext("offered"),
        "paid": gettext("paid"),
        "currency": gettext("currency"),
    }

    def shown(name: str, value: str | None) -> str:
        if value is None:
            return gettext("none")
        return value if name == "currency" else money_number(Decimal(value), currency)

    return ", ".join(
        f"{names.get(name, name)} {shown(name, before)} → {shown(name, after)}"
        for name, (before, after) in changed.items()
    )


def code_line(data: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """The reason code of an entry of history, if it has one."""
    code = data.get("code")
    return [gettext("Reason code: %(code)s") % {"code": names.get(code, code)}] if code else []
