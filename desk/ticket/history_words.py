"""Entries of a ticket's history in the reader's language.

Each kind has its sentences in `tickets/history_codes.py`. A sentence is whole: none is put together
from pieces.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from desk.common.generics import StrPromise
from desk.common.times import snoozed_text
from desk.ticket import claims, values
from tickets.assignment.picking import Standing, explain
from tickets.history_codes import QUIET, ROWS, Kind, Rule
from tickets.labels import status_label
from tickets.models import HistoryEntry
from tickets.models.automations import automation_named
from tickets.statuses import By


class ActorWords(NamedTuple):
    """Words for somebody whom an entry does not name."""

    # At the beginning of a sentence.
    first: StrPromise
    # After "by".
    after_by: StrPromise
    role: StrPromise


ACTORS: Mapping[str, ActorWords] = {
    By.COMPANY: ActorWords(_("The company"), _("the company"), _("company")),
    By.SYSTEM: ActorWords(_("The system"), _("the system"), _("system")),
    By.AGENT: ActorWords(_("An agent"), _("an agent"), _("agent")),
    By.LEAD: ActorWords(_("A lead"), _("a lead"), _("lead")),
}
STANDINGS = {
    Standing.AT_CAPACITY: _("at capacity"),
    Standing.ASSIGNED_LATER: _("as busy, assigned a ticket more recently"),
    Standing.BUSIER: _("busier"),
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
    token = [] if traces else token_used(entry)
    role = str(ACTORS[entry.by].role)
    return HistoryLine(
        entry,
        actor_named(entry) or role,
        role,
        sentence(entry),
        entry.reason,
        [detail for detail in details(entry, codes) if detail not in token],
        load_lines(entry.data),
        entry.kind == Kind.MOVED or (entry.kind == Kind.OPENED and not by_person(entry)),
    )


def sentence(entry: HistoryEntry) -> str:
    """What happened, in the language of whoever reads it."""
    found = traits(entry)
    templates = ROWS[entry.kind].sentences if entry.kind in ROWS else {}
    for needed, template in templates.items():
        if found.issuperset(needed.split()):
            return str(template).format_map(places(entry))
    # A kind of a later version, which another process runs already.
    return entry.kind.replace("_", " ").capitalize()


def traits(entry: HistoryEntry) -> set[str | None]:
    """Whatever decides which sentence of its kind an entry has."""
    data = entry.data
    former, agent, load, capacity = assignment(data)
    true_or_not = {
        "automation": automation_of(entry),
        "person": by_person(entry),
        "former": former,
        "nobody": agent is None,
        "over": load >= capacity,
        "own": data.get("own"),
        "last": data.get("last"),
    }
    codes = (entry.by, data.get("why"), data.get("rule"), data.get("outcome"))
    return {*codes, *(name for name, value in true_or_not.items() if value)}


def places(entry: HistoryEntry) -> dict[str, Any]:
    """Whatever a sentence may name."""
    data = entry.data
    former, agent, load, capacity = assignment(data)
    opened_for_caller = entry.kind == Kind.OPENED and by_person(entry)
    until = data.get("until")
    return {
        "actor": actor_named(entry) or ACTORS[entry.by].first,
        "company": entry.ticket.company.name if opened_for_caller else "",
        "was": entry.get_was_display(),
        "now": entry.get_now_display(),
        "asked": status_label(data["to"]) if "to" in data else gettext("another status"),
        "former": former or gettext("nobody"),
        "agent": agent or gettext("nobody"),
        "load": load,
        "capacity": capacity,
        "documents": ", ".join(data.get("requested") or ()),
        "file": data.get("name", ""),
        "ticket": data.get("ticket", ""),
        "until": snoozed_text(datetime.fromisoformat(until)) if until else "",
        "number": data.get("number", 0),
        "of": data.get("of", 0),
        "amounts": claims.changed_amounts(entry),
    }


def assignment(data: Mapping[str, Any]) -> tuple[str | None, str | None, int, int]:
    """The former agent and the new one, and the load and capacity of the new one."""
    former, agent = data.get("agent") or (None, None)
    load, capacity = (data.get("loads") or {}).get(agent, (0, 1))
    return former, agent, load, capacity


def mover_name(entry: HistoryEntry) -> str:
    """Who stands behind `by`."""
    return actor_named(entry) or str(ACTORS[entry.by].after_by)


def actor_named(entry: HistoryEntry) -> str:
    """Agents and automations by name; a company's token means nothing to people."""
    return entry.actor if by_person(entry) else automation_of(entry)


def by_person(entry: HistoryEntry) -> bool:
    return entry.by in (By.AGENT, By.LEAD)


def automation_of(entry: HistoryEntry) -> str:
    """The automation that did it, as people call it; nothing for what others did."""
    return automation_named(entry.actor) if entry.by == By.SYSTEM else ""


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


def changed_variables(diff: Mapping[str, Any]) -> Iterator[str]:
    """One line for each variable."""
    for name, value in (diff.get("added") or {}).items():
        yield gettext("Added %(name)s: %(value)s") % {"name": name, "value": values.as_text(value)}
    for name in diff.get("removed") or {}:
        yield gettext("Removed %(name)s") % {"name": name}
    for name, change in (diff.get("changed") or {}).items():
        before, after = map(values.as_text, change)
        words = {"name": name, "before": before, "after": after}
        yield gettext("Changed %(name)s: %(before)s → %(after)s") % words


def load_lines(data: Mapping[str, Any]) -> list[LoadLine]:
    """The loads behind an assignment, the lightest first."""
    rule = data.get("rule")
    chosen = Rule(rule).label if rule in Rule.values else gettext("assigned")
    return [
        LoadLine(
            one.agent,
            one.load,
            one.capacity,
            one.standing == Standing.CHOSEN,
            str(STANDINGS.get(one.standing, chosen)),
        )
        for one in explain(data)
    ]
