"""What history says of automations, as sentences with named places for facts."""

from django.utils.translation import gettext

from tickets.history_codes import Kind
from tickets.models import HistoryEntry
from tickets.models.automations import automation_named
from tickets.statuses import By


def automation_of(entry: HistoryEntry) -> str:
    """The automation that did it, as people call it; nothing for what others did."""
    return automation_named(entry.actor) if entry.by == By.SYSTEM else ""


def automation_sentence(entry: HistoryEntry) -> str:
    """The sentence of what an automation did; nothing for any other entry."""
    if not automation_of(entry):
        return ""
    if entry.kind == Kind.MOVED:
        return gettext("The automation “{actor}” moved it from {was} to {now}.")
    if entry.kind == Kind.REMINDED:
        return (
            gettext("The automation “{actor}” reminded the company for the last time.")
            if entry.data.get("last")
            else gettext("The automation “{actor}” reminded the company ({number} of {of}).")
        )
    if entry.kind == Kind.ESCALATED:
        return gettext("The automation “{actor}” told the leads that the ticket is due soon.")
    if entry.kind == Kind.REASSIGNED:
        former, _ = entry.data.get("agent") or (None, None)
        return (
            gettext("The automation “{actor}” reassigned it from {former} to {agent}.")
            if former
            else gettext("The automation “{actor}” assigned it to {agent}.")
        )
    return ""
