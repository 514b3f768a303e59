"""What a ticket's history says: each kind of entry as one sentence, with named places for facts.

History stores codes (`tickets/history_codes.py`); all words about them are here. A sentence is
whole, so that it can be translated: none is put together from pieces.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from desk.ticket import values
from tickets.assignment.picking import Standing, explain
from tickets.history_codes import Kind, NotAssigned, NotMoved, Rule
from tickets.models import HistoryEntry
from tickets.statuses import By, Status

# Who is meant where the entry names nobody, or names a token.
ACTORS: Mapping[str, str] = {
    By.COMPANY: "The company",
    By.SYSTEM: "The system",
    By.AGENT: "An agent",
    By.LEAD: "A lead",
}
SENTENCES: Mapping[str, str] = {
    Kind.OPENED: "{actor} opened the ticket.",
    Kind.MOVED: "{actor} moved it from {was} to {now}.",
    Kind.DATA_CHANGED: "{actor} changed the variables. The status stayed {now}.",
    Kind.ASSIGNED: "Assigned automatically to {agent} (least busy).",
    Kind.DOCUMENTS_REQUESTED: "{actor} requested documents: {documents}.",
    Kind.APPEALED: "{actor} appealed the decision.",
    Kind.FILE_ADDED: "{actor} added a file: {file}.",
    Kind.EVIDENCE_TAKEN: "{actor} downloaded the evidence (SHA-256 {sha256}).",
}
LEFT_UNASSIGNED = "Left unassigned."
UNASSIGNED: Mapping[str, str] = {
    NotAssigned.NOBODY_AVAILABLE: "Left unassigned: no agent for this ticket type is available.",
    NotAssigned.ALL_AT_CAPACITY: (
        "Left unassigned: every available agent for this ticket type is at capacity."
    ),
    NotAssigned.LOCK_TIMEOUT: (
        "Left unassigned for now: other tickets were being assigned at that moment."
    ),
}
TOOK = "{agent} took the ticket."
TAKEN: Mapping[str, str] = {
    Rule.MOST_URGENT: "{agent} took the ticket, the most urgent unassigned one.",
    Rule.AGENT_CHOICE: "{agent} chose the ticket and took it.",
}
APPEAL_DECIDED: Mapping[str, str] = {
    "accepted": "{actor} accepted the appeal.",
    "refused": "{actor} refused the appeal.",
}
NOT_MOVED = "{actor} asked for {asked}. The status stayed {now}."
MOVE_REFUSED: Mapping[str, str] = {
    NotMoved.NOT_ALLOWED: "{actor} asked for {asked}, which cannot follow {now}.",
    NotMoved.NOTHING_NEW: "Not moved to {asked}: the message said nothing new.",
}
# By a lead: to another agent or automatically, from somebody or from nobody.
ASSIGNED_BY_LEAD = "{actor} assigned it to {agent}."
ASSIGNED_OVER_CAPACITY = "{actor} assigned it to {agent}, over capacity ({load} of {capacity})."
REASSIGNED = "{actor} reassigned it from {former} to {agent}."
REASSIGNED_OVER_CAPACITY = (
    "{actor} reassigned it from {former} to {agent}, over capacity ({load} of {capacity})."
)
REASSIGNED_AUTOMATICALLY = "Reassigned automatically by {actor} (was assigned to {former})."
ASSIGNED_AUTOMATICALLY = "Assigned automatically by {actor}."
TAKEN_BACK = "Taken back from {former}, who is no longer active."

COMPLETE = "All requested documents have come."
FOR_DOCUMENT = "For the requested document: {document}"

STANDINGS: Mapping[str, str] = {
    Standing.AT_CAPACITY: "at capacity",
    Standing.ASSIGNED_LATER: "as busy, assigned a ticket more recently",
    Standing.BUSIER: "busier",
}
CHOSEN = "assigned"
CHOSEN_BY: Mapping[str, str] = {
    Rule.LEAST_BUSY: "least busy",
    Rule.MOST_URGENT: "took it",
    Rule.AGENT_CHOICE: "took it",
    Rule.LEAD_CHOICE: "chosen by a lead",
}


class LoadLine(NamedTuple):
    """An agent in the table that explains an assignment."""

    agent: str
    load: int
    capacity: int
    chosen: bool
    why: str


class HistoryLine(NamedTuple):
    """An entry as the desk shows it: what happened, what a person gave as the reason, the rest."""

    row: HistoryEntry
    sentence: str
    reason: str
    details: list[str]
    loads: list[LoadLine]
    # Opened or moved: two coloured statuses can stand for the sentence.
    is_move: bool


def line(entry: HistoryEntry) -> HistoryLine:
    kind = kind_of(entry)
    return HistoryLine(
        entry,
        sentence(entry),
        reason(entry),
        details(entry),
        load_lines(entry.data),
        kind in (Kind.OPENED, Kind.MOVED),
    )


def kind_of(entry: HistoryEntry) -> str:
    """The kind; for what an earlier version wrote, as far as its columns tell."""
    if entry.kind == Kind.OTHER and entry.public:
        return Kind.OPENED if entry.was is None else Kind.MOVED
    return entry.kind


def sentence(entry: HistoryEntry) -> str:
    """What happened. The words of an earlier version are shown as they stand."""
    if kind_of(entry) == Kind.OTHER:
        return entry.reason
    return template(entry).format_map(facts(entry))


def reason(entry: HistoryEntry) -> str:
    """What a person wrote beside it."""
    return "" if kind_of(entry) == Kind.OTHER else entry.reason


def template(entry: HistoryEntry) -> str:
    kind, data = kind_of(entry), entry.data
    if kind == Kind.UNASSIGNED:
        return UNASSIGNED.get(data.get("why", ""), LEFT_UNASSIGNED)
    if kind == Kind.TAKEN:
        return TAKEN.get(data.get("rule", ""), TOOK)
    if kind == Kind.MOVE_REFUSED:
        return MOVE_REFUSED.get(data.get("why", ""), NOT_MOVED)
    if kind == Kind.APPEAL_DECIDED:
        return APPEAL_DECIDED.get(data.get("outcome", ""), "{actor} decided the appeal.")
    if kind == Kind.REASSIGNED:
        return TAKEN_BACK if entry.by == By.SYSTEM else reassigned(data)
    # A kind of a later version, which another process runs already.
    return SENTENCES.get(kind, kind.replace("_", " ").capitalize())


def reassigned(data: Mapping[str, Any]) -> str:
    former, agent = data.get("agent") or (None, None)
    if agent is None:
        return REASSIGNED_AUTOMATICALLY if former else ASSIGNED_AUTOMATICALLY
    load, capacity = (data.get("loads") or {}).get(agent, (0, 1))
    if load < capacity:
        return REASSIGNED if former else ASSIGNED_BY_LEAD
    return REASSIGNED_OVER_CAPACITY if former else ASSIGNED_OVER_CAPACITY


def facts(entry: HistoryEntry) -> dict[str, Any]:
    """Whatever a sentence may name."""
    data = entry.data
    former, agent = data.get("agent") or (None, None)
    load, capacity = (data.get("loads") or {}).get(agent, (0, 0))
    return {
        "actor": actor_name(entry),
        "was": entry.get_was_display(),
        "now": entry.get_now_display(),
        "asked": Status(data["to"]).label if "to" in data else "another status",
        "former": former or "nobody",
        "agent": agent or "nobody",
        "load": load,
        "capacity": capacity,
        "documents": ", ".join(data.get("requested") or ()),
        "sha256": data.get("sha256", ""),
        "file": data.get("name", ""),
    }


def actor_name(entry: HistoryEntry) -> str:
    """Agents by name; a company's token means nothing in a sentence."""
    named = entry.actor if entry.by in (By.AGENT, By.LEAD) else ""
    return named or ACTORS[entry.by]


def details(entry: HistoryEntry) -> list[str]:
    """What changed of the variables; of an earlier version's entry, all that it holds."""
    if kind_of(entry) != Kind.OTHER:
        # Moves of an earlier version have the diff under the name of the field.
        return [
            *([COMPLETE] if entry.data.get("complete") else []),
            *([FOR_DOCUMENT.format(document=name)] if (name := entry.data.get("document")) else []),
            *changed_variables(entry.data.get("variables") or entry.data.get("data") or {}),
        ]
    found = []
    for key, value in entry.data.items():
        match key, value:
            case (("loads" | "requested"), _):
                pass
            case "agent", [former, agent]:
                found.append(f"Agent: {former or 'nobody'} → {agent or 'nobody'}")
            case "evidence", {"sha256": digest}:
                found.append(f"Evidence: SHA-256 {digest}")
            case (("data" | "variables"), {"added": _, "removed": _, "changed": _}):
                found += changed_variables(value)
            case _:
                found.append(f"{key}: {value}")
    return found


def changed_variables(diff: Mapping[str, Any]) -> list[str]:
    """One line for each variable."""
    return [
        *(
            f"Added {key}: {values.as_text(value)}"
            for key, value in (diff.get("added") or {}).items()
        ),
        *(f"Removed {key}" for key in diff.get("removed") or ()),
        *(
            f"Changed {key}: {values.as_text(before)} → {values.as_text(after)}"
            for key, (before, after) in (diff.get("changed") or {}).items()
        ),
    ]


def load_lines(data: Mapping[str, Any]) -> list[LoadLine]:
    """The loads behind an assignment, the lightest first."""
    chosen = CHOSEN_BY.get(data.get("rule", ""), CHOSEN)
    return [
        LoadLine(
            one.agent,
            one.load,
            one.capacity,
            one.standing == Standing.CHOSEN,
            chosen if one.standing == Standing.CHOSEN else STANDINGS[one.standing],
        )
        for one in explain(data)
    ]
