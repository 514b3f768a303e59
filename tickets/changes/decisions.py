"""Reason codes and amounts of decisions (decision N19)."""

from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils.translation import gettext

from core.values.money import money_text
from tickets.changes.actors import Actor, actor_for
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.page_tokens import PageToken, require_read
from tickets.changes.writes import MoveRefused, save_change
from tickets.history_codes import Kind
from tickets.labels import status_label
from tickets.models import ApprovalLimit, ReasonCode, Ticket
from tickets.models.decisions import OTHER
from tickets.money import MOST, PLACES, Amounts, differences, wrong_amounts
from tickets.statuses import ACCEPTING, TERMINAL, By, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Reason code and amounts of a decision, besides its reason in words."""

    # Code of a ReasonCode; empty means `other`.
    code: str = ""
    # The default leaves the ticket's amounts unchanged.
    amounts: Amounts | None = None


NO_DECISION = Decision()


@ticket_service
def set_amounts(
    ticket_id: int, amounts: Amounts, *, user: User, seen: PageToken | None = None
) -> Ticket:
    """Set the amounts of a ticket, even of a decided one.

    Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and MoveRefused.
    """
    actor = actor_for(user)
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    write_amounts(ticket, actor, amounts)
    if ticket.status in ACCEPTING:
        refuse_over_limit(ticket, actor)
    return ticket


def code_of_decision(ticket: Ticket, actor: Actor, to: Status, decision: Decision) -> str:
    """Write the amounts of a move, and return its reason code, "" if it is not a decision.

    The caller locks the ticket and moves it. Raises MoveRefused.
    """
    if decision.amounts is not None:
        write_amounts(ticket, actor, decision.amounts)
    if to not in TERMINAL:
        if decision.code:
            raise MoveRefused(
                gettext("Reason code: a move to %(status)s has none.")
                % {"status": status_label(to)}
            )
        return ""
    if to in ACCEPTING:
        refuse_over_limit(ticket, actor)
    if not decision.code or decision.code == OTHER:
        return OTHER
    codes = ReasonCode.objects.about([ticket.type_id])
    fitting = {one.code for one in codes if one.decides(to)}
    if decision.code not in fitting:
        raise MoveRefused(
            gettext(
                "Reason code: there is no %(code)s for %(status)s on tickets of type %(type)s."
                " Choose one of: %(codes)s."
            )
            % {
                "code": decision.code,
                "status": status_label(to),
                "type": ticket.type,
                "codes": ", ".join(sorted({OTHER, *fitting})),
            }
        )
    return decision.code


def write_amounts(ticket: Ticket, actor: Actor, amounts: Amounts) -> None:
    """Write the amounts on a locked ticket, and record the changes in history."""
    if all(amount is None for _, amount in amounts):
        amounts = Amounts()
    if (wrong := wrong_amounts(amounts)) is not None:
        raise MoveRefused(wrong_amount_text(*wrong))
    if not (changed := differences(ticket.amounts, amounts)):
        return
    ticket.amounts = amounts
    record_history(ticket, actor, Kind.AMOUNTS_CHANGED, data={"amounts": changed})
    save_change(ticket, "amount_claimed", "amount_offered", "amount_paid", "currency")


def wrong_amount_text(field: str, code: str) -> str:
    """Return the error message for a field of the amounts."""
    names = {
        "claimed": gettext("Claimed"),
        "offered": gettext("Offered"),
        "paid": gettext("Paid"),
        "currency": gettext("Currency"),
    }
    texts = {
        "out_of_range": gettext("%(field)s: enter an amount from 0 to %(most)s."),
        "too_precise": gettext("%(field)s: enter at most %(places)d decimal places."),
        "missing_currency": gettext("%(field)s: enter the currency of the amounts."),
        "unknown_currency": gettext("%(field)s: enter an ISO 4217 code, such as EUR or MXN."),
    }
    return texts[code] % {"field": names[field], "most": f"{MOST:,f}", "places": PLACES}


def refuse_over_limit(ticket: Ticket, actor: Actor) -> None:
    """Raise MoveRefused if the amount of a ticket exceeds the actor's approval limit."""
    amounts = ticket.amounts
    if actor.by != By.AGENT or not amounts.accepted:
        return
    limit, is_limited = limit_of(actor.name, amounts.currency)
    if not is_limited or (limit is not None and amounts.accepted <= limit):
        return
    facts = {
        "amount": money_text(amounts.accepted, amounts.currency),
        "currency": amounts.currency,
        "limit": "" if limit is None else money_text(limit, amounts.currency),
    }
    if limit is None:
        text = gettext("You have no approval limit in %(currency)s. Ask a lead to accept this.")
    else:
        text = gettext(
            "%(amount)s is above your approval limit of %(limit)s. Ask a lead to accept this."
        )
    raise MoveRefused(text % facts)


def limit_of(username: str, currency: str) -> tuple[Decimal | None, bool]:
    """Return an agent's limit in a currency, and whether they have any limit.

    Their own precedes the general one. Limits in other currencies only allow nothing in this one.
    """
    limits = list(ApprovalLimit.objects.filter(Q(agent=None) | Q(agent__user__username=username)))
    own = [one for one in limits if one.agent_id is not None]
    limit = next((one for one in [*own, *limits] if one.currency == currency), None)
    return None if limit is None else limit.amount, bool(limits)
