"""What a ticket's history says: each kind of entry as one sentence, with named places for facts.

History stores codes (`tickets/history_codes.py`); the words are in `history_sentences`, and are
translated here for whoever reads. A sentence is whole: none is put together from pieces.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext

from desk.ticket import automation_words, claims, together_words, values
from desk.ticket import history_sentences as words
from tickets.assignment.picking import Standing, explain
from tickets.history_codes import QUIET, Kind
from tickets.labels import status_label
from tickets.models import HistoryEntry
from tickets.statuses import By


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
    # Who did it, and as what; the two are the same where nobody is named.
    who: str
    role: str
    sentence: str
    reason: str
    details: list[str]
    loads: list[LoadLine]
    # Opened or moved: two coloured statuses can stand for the sentence.
    is_move: bool

    @property
    def is_quiet(self) -> bool:
        """Whether nobody has to have read it."""
        return self.row.kind in QUIET


def line(
    entry: HistoryEntry, codes: Mapping[str, str] | None = None, *, traces: bool = True
) -> HistoryLine:
    """`codes` names the reason codes of decisions; without `traces` no token is named."""
    kind = entry.kind
    token = [] if traces else token_used(entry)
    return HistoryLine(
        entry,
        actor_named(entry) or gettext(words.ROLES[entry.by]),
        gettext(words.ROLES[entry.by]),
        sentence(entry),
        entry.reason,
        [detail for detail in details(entry, codes) if detail not in token],
        load_lines(entry.data),
        kind in (Kind.OPENED, Kind.MOVED) and not together_words.together_sentence(entry),
    )


def sentence(entry: HistoryEntry) -> str:
    """What happened, in the language of whoever reads it."""
    text = template(entry)
    return gettext(text).format_map(facts(entry))


def template(entry: HistoryEntry) -> str:
    kind, data = entry.kind, entry.data
    if told := automation_words.automation_sentence(entry):
        return told
    if told := together_words.together_sentence(entry):
        return told
    if kind == Kind.UNASSIGNED:
        return words.UNASSIGNED.get(data.get("why", ""), words.LEFT_UNASSIGNED)
    if kind == Kind.TAKEN:
        return words.TAKEN.get(data.get("rule", ""), words.TOOK)
    if kind == Kind.MOVE_REFUSED:
        return words.MOVE_REFUSED.get(data.get("why", ""), words.NOT_MOVED)
    if kind == Kind.APPEAL_DECIDED:
        decided = words.OWN_APPEAL_DECIDED if data.get("own") else words.APPEAL_DECIDED
        return decided.get(data.get("outcome", ""), words.DECIDED_APPEAL)
    if kind == Kind.REASSIGNED:
        return words.TAKEN_BACK if entry.by == By.SYSTEM else reassigned(data)
    # A kind of a later version, which another process runs already.
    return words.SENTENCES.get(kind, kind.replace("_", " ").capitalize())


def reassigned(data: Mapping[str, Any]) -> str:
    former, agent = data.get("agent") or (None, None)
    if agent is None:
        return words.REASSIGNED_AUTOMATICALLY if former else words.ASSIGNED_AUTOMATICALLY
    load, capacity = (data.get("loads") or {}).get(agent, (0, 1))
    if load < capacity:
        return words.REASSIGNED if former else words.ASSIGNED_BY_LEAD
    return words.REASSIGNED_OVER_CAPACITY if former else words.ASSIGNED_OVER_CAPACITY


def facts(entry: HistoryEntry) -> dict[str, Any]:
    """Whatever a sentence may name."""
    data = entry.data
    former, agent = data.get("agent") or (None, None)
    load, capacity = (data.get("loads") or {}).get(agent, (0, 0))
    return {
        "actor": actor_name(entry),
        "was": entry.get_was_display(),
        "now": entry.get_now_display(),
        "asked": status_label(data["to"]) if "to" in data else gettext("another status"),
        "former": former or gettext("nobody"),
        "agent": agent or gettext("nobody"),
        "load": load,
        "capacity": capacity,
        "documents": ", ".join(data.get("requested") or ()),
        "file": data.get("name", ""),
        "number": data.get("number", 0),
        "of": data.get("of", 0),
        "amounts": claims.changed_amounts(entry),
        **together_words.together_facts(entry),
    }


def actor_name(entry: HistoryEntry) -> str:
    """Who a sentence begins with."""
    return actor_named(entry) or gettext(words.ACTORS[entry.by])


def mover_name(entry: HistoryEntry) -> str:
    """Who stands behind `by`."""
    return actor_named(entry) or gettext(words.MOVERS[entry.by])


def actor_named(entry: HistoryEntry) -> str:
    """Agents and automations by name; a company's token means nothing to people."""
    by_agent = entry.by in (By.AGENT, By.LEAD)
    return entry.actor if by_agent else automation_words.automation_of(entry)


def details(entry: HistoryEntry, codes: Mapping[str, str] | None = None) -> list[str]:
    """What changed of the variables, and what stands beside it."""
    found = []
    if entry.data.get("complete"):
        found.append(gettext("All requested documents have come."))
    if name := entry.data.get("document"):
        found.append(gettext("For the requested document: %(document)s") % {"document": name})
    code = claims.code_line(entry.data, codes or {})
    changed = changed_variables(entry.data.get("variables") or {})
    return [*code, *found, *changed, *token_used(entry)]


def token_used(entry: HistoryEntry) -> list[str]:
    """Return what operators look for: the prefix of a company's token, the digest of a download."""
    if entry.kind in (Kind.CLAIM_FILE_TAKEN, Kind.EVIDENCE_TAKEN):
        return [f"SHA-256 {entry.data.get('sha256', '')}"]
    if entry.by != By.COMPANY or not entry.actor:
        return []
    return [gettext("API token %(prefix)s") % {"prefix": entry.actor}]


def changed_variables(diff: Mapping[str, Any]) -> list[str]:
    """One line for each variable."""
    added, removed, changed = (diff.get(what) or {} for what in ("added", "removed", "changed"))
    return [
        *(
            gettext("Added %(name)s: %(value)s") % {"name": name, "value": values.as_text(value)}
            for name, value in added.items()
        ),
        *(gettext("Removed %(name)s") % {"name": name} for name in removed),
        *(
            gettext("Changed %(name)s: %(before)s → %(after)s")
            % {"name": name, "before": values.as_text(before), "after": values.as_text(after)}
            for name, (before, after) in changed.items()
        ),
    ]


def load_lines(data: Mapping[str, Any]) -> list[LoadLine]:
    """The loads behind an assignment, the lightest first."""
    rule = data.get("rule", "")
    chosen = together_words.chosen_by(rule) or words.CHOSEN_BY.get(rule, words.CHOSEN)
    why = {**words.STANDINGS, Standing.CHOSEN: chosen}
    return [
        LoadLine(
            one.agent,
            one.load,
            one.capacity,
            one.standing == Standing.CHOSEN,
            gettext(why[one.standing]),
        )
        for one in explain(data)
    ]
