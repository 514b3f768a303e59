"""A ticket's claim as its page shows it: reason codes to choose from, and amounts in words."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext

from core.values.currencies import CURRENCIES, plain_number
from core.values.money import money_number
from desk.ticket import values
from shipments.models import Surcharge
from tickets.changes.required_documents import required_of
from tickets.models import HistoryEntry, ReasonCode, Ticket
from tickets.statuses import REQUESTING, TERMINAL, By, Status, allows

# Names of the currency in companies' variables.
CURRENCY_KEYS = ("currency", "currency_code", "moneda", "divisa")


def required_context(ticket: Ticket, *, may_work: bool) -> dict[str, Any]:
    """Build the list of required documents, and the form that requests the missing ones."""
    required = required_of(ticket)
    missing = [document.name for document in required if document.is_missing]
    now = Status(ticket.status)
    by_move = may_work and any(allows(now, to, By.AGENT) for to in REQUESTING)
    return {
        "required": required,
        "missing": missing,
        "may_ask": now not in TERMINAL,
        "ask_by_move": by_move,
        "ask_key": uuid4() if missing else None,
    }


def codes_for(to: Status, codes: Iterable[ReasonCode]) -> list[ReasonCode]:
    return [code for code in codes if code.decides(to)]


def code_names(ticket: Ticket, history: Iterable[HistoryEntry]) -> dict[str, str]:
    """Map the codes of a ticket's decisions to their names, including codes no longer offered."""
    codes = {ticket.reason_code, *(entry.data.get("code", "") for entry in history)} - {""}
    if not codes:
        return {}
    names = {row.code: str(row) for row in ReasonCode.objects.filter(code__in=codes)}
    return {code: names.get(code, code) for code in codes}


def decision_context(to: Status, tickets: Sequence[Ticket], form: forms.Form) -> dict[str, Any]:
    """Build the decision's part of a dialog; several tickets share a code but no amounts."""
    if to not in TERMINAL:
        return {}
    codes = ReasonCode.objects.about(ticket.type_id for ticket in tickets)
    chosen = form["code"].value() if form.is_bound else ""
    context = {"codes": codes_for(to, codes), "chosen_code": chosen}
    if len(tickets) != 1:
        return context
    return {**context, "amounts": amount_values(tickets[0], form if form.is_bound else None)}


def amount_values(ticket: Ticket, form: forms.Form | None) -> dict[str, str]:
    """Return the values of the amount fields: as typed, else the ticket's own."""
    if form is not None and "currency" in form.data:
        return {
            name: form[name].value() or "" for name in ("claimed", "offered", "paid", "currency")
        }
    amounts = ticket.amounts
    numbers = {name: "" if one is None else plain_number(one) for name, one in amounts}
    return {**numbers, "currency": amounts.currency or likely_currency(ticket)}


def likely_currency(ticket: Ticket) -> str:
    """Guess the currency from the ticket's variables, else the parcel's latest charge, else ""."""
    texts = [
        row.text.strip().upper()
        for row in values.variables(ticket.data).rows
        if row.key.strip().lower() in CURRENCY_KEYS
    ]
    if codes := [text for text in texts if text in CURRENCIES]:
        return codes[0]
    charges = Surcharge.objects.filter(
        shipment=ticket.shipment_id, shipment__company=ticket.company_id
    )
    return charges.order_by("-pk").values_list("currency", flat=True).first() or ""


def changed_amounts(entry: HistoryEntry) -> str:
    """Describe the amounts that a history entry changed, before and after."""
    changes = entry.data.get("amounts") or {}
    currency = entry.ticket.currency if changes else ""
    names = {
        "claimed": gettext("claimed"),
        "offered": gettext("offered"),
        "paid": gettext("paid"),
        "currency": gettext("currency"),
    }

    def as_text(name: str, value: str | None) -> str:
        if value is None:
            return gettext("none")
        return value if name == "currency" else money_number(Decimal(value), currency)

    return ", ".join(
        f"{names.get(name, name)} {as_text(name, before)} → {as_text(name, after)}"
        for name, (before, after) in changes.items()
    )


def code_line(data: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """Return the line with the reason code of a history entry; empty if it has none."""
    code = data.get("code")
    return [gettext("Reason code: %(code)s") % {"code": names.get(code, code)}] if code else []
