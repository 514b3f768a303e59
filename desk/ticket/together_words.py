"""What history says of agents who work together, as sentences with named places for facts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from desk.common.times import snoozed_text
from tickets.history_codes import Kind, Rule
from tickets.models import HistoryEntry
from tickets.statuses import By


def together_sentence(entry: HistoryEntry) -> str:
    """The sentence of an entry of these kinds; nothing for any other."""
    by_agent = entry.by in (By.AGENT, By.LEAD)
    if entry.kind == Kind.OPENED and by_agent:
        return gettext("{actor} opened the ticket for {company}.")
    if entry.kind == Kind.HANDED_OVER:
        return handed_over(entry.data)
    if entry.kind == Kind.RELATED:
        return gettext("{actor} linked it to ticket {ticket}.")
    if entry.kind == Kind.UNRELATED:
        return gettext("{actor} removed the link to ticket {ticket}.")
    if entry.kind == Kind.TAKEN and entry.data.get("rule") == Rule.REPLIED:
        return gettext("{agent} replied and so took the ticket.")
    if entry.kind == Kind.TAKEN and entry.data.get("rule") == Rule.CALLER:
        return gettext("{agent} took the ticket that they opened.")
    return ""


def handed_over(data: Mapping[str, Any]) -> str:
    former, agent = data.get("agent") or (None, None)
    load, capacity = (data.get("loads") or {}).get(agent, (0, 1))
    if load < capacity:
        return (
            gettext("{actor} handed it over from {former} to {agent}.")
            if former
            else gettext("{actor} handed it over to {agent}.")
        )
    return (
        gettext(
            "{actor} handed it over from {former} to {agent}, over capacity ({load} of {capacity})."
        )
        if former
        else gettext("{actor} handed it over to {agent}, over capacity ({load} of {capacity}).")
    )


def together_facts(entry: HistoryEntry) -> dict[str, Any]:
    """What these sentences name beside what all others do."""
    until = entry.data.get("until")
    opened = entry.kind == Kind.OPENED and entry.by in (By.AGENT, By.LEAD)
    return {
        "company": entry.ticket.company.name if opened else "",
        "ticket": entry.data.get("ticket", ""),
        "until": snoozed_text(datetime.fromisoformat(until)) if until else "",
    }


def chosen_by(rule: str) -> str:
    """Why the agent got the ticket, for the table of loads; nothing for another rule."""
    return {
        Rule.COLLEAGUE_CHOICE.value: gettext("chosen by a colleague"),
        Rule.REPLIED.value: gettext("replied to it"),
        Rule.CALLER.value: gettext("opened it for a caller"),
    }.get(rule, "")
