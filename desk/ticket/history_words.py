"""Entries of a ticket's history in the reader's language.

Each kind has its sentences in `tickets/history_codes.py`. They are whole, never put together from
parts, so that they can be translated.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from desk.common.generics import StrPromise
from desk.common.times import snoozed_text
from desk.ticket import claims, values
from portal.visitors import ACTOR
from tickets.assignment.picking import Standing, explain
from tickets.history_codes import QUIET, ROWS, Kind, Rule
from tickets.labels import status_label
from tickets.models import HistoryEntry
from tickets.models.automations import automation_named
from tickets.statuses import By


class ActorWords(NamedTuple):
    """Words for an actor whom an entry does not name."""

    # Stands at the beginning of a sentence.
    first: StrPromise
    # Stands after "by".
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
    """A history entry as the desk shows it."""

    row: HistoryEntry
    # The actor's name and role; the two are the same if the entry names nobody.
    who: str
    role: str
    sentence: str
    reason: str
    details: list[str]
    loads: list[LoadLine]
    # Two coloured statuses can replace the sentence.
    is_move: bool

    @property
    def is_quiet(self) -> bool:
        """True if nobody needs to read it."""
        return self.row.kind in QUIET


def line(
    entry: HistoryEntry, codes: Mapping[str, str] | None = None, *, traces: bool = True
) -> HistoryLine:
    """Build an entry's line, with the names of reason codes; tokens and digests if `traces`."""
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
    entry_traits = traits(entry)
    templates = ROWS[entry.kind].sentences if entry.kind in ROWS else {}
    for needed, template in templates.items():
        if entry_traits.issuperset(needed.split()):
            return str(template).format_map(places(entry))
    # During an upgrade another process may already write kinds of the next version.
    return entry.kind.replace("_", " ").capitalize()


def traits(entry: HistoryEntry) -> set[str | None]:
    """Return the words by which the sentence of an entry is selected."""
    data = entry.data
    former, agent, load, capacity = assignment(data)
    conditions = {
        "automation": automation_of(entry),
        "person": by_person(entry),
        "former": former,
        "nobody": agent is None,
        "over": load >= capacity,
        "own": data.get("own"),
        "last": data.get("last"),
    }
    codes = (entry.by, data.get("why"), data.get("rule"), data.get("outcome"))
    return {*codes, *(name for name, value in conditions.items() if value)}


def places(entry: HistoryEntry) -> dict[str, Any]:
    """Return the values of the placeholders that a sentence may have."""
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
    """Return the former agent, the new one, and the new one's load and capacity."""
    former, agent = data.get("agent") or (None, None)
    load, capacity = (data.get("loads") or {}).get(agent, (0, 1))
    return former, agent, load, capacity


def mover_name(entry: HistoryEntry) -> str:
    """Return the words that follow "by" in a sentence."""
    return actor_named(entry) or str(ACTORS[entry.by].after_by)


def actor_named(entry: HistoryEntry) -> str:
    """Return the name of the agent or automation; "" for a company, whose token says nothing."""
    return entry.actor if by_person(entry) else automation_of(entry)


def by_person(entry: HistoryEntry) -> bool:
    return entry.by in (By.AGENT, By.LEAD)


def automation_of(entry: HistoryEntry) -> str:
    """Return the display name of the automation that wrote an entry; "" for other actors."""
    return automation_named(entry.actor) if entry.by == By.SYSTEM else ""


def details(entry: HistoryEntry, codes: Mapping[str, str] | None = None) -> list[str]:
    """Return the lines below a sentence: code, documents, page, changed variables and token."""
    documents = []
    if entry.data.get("complete"):
        documents.append(gettext("All requested documents have come."))
    if name := entry.data.get("document"):
        documents.append(gettext("For the requested document: %(document)s") % {"document": name})
    if on_page(entry):
        documents.append(gettext("On the company's page"))
    code = claims.code_line(entry.data, codes or {})
    variables = changed_variables(entry.data.get("variables") or {})
    return [*code, *documents, *variables, *token_used(entry)]


def on_page(entry: HistoryEntry) -> bool:
    """Tell whether a person of the company did it on its page, without a token."""
    return entry.by == By.COMPANY and entry.actor == ACTOR.name


def token_used(entry: HistoryEntry) -> list[str]:
    """Return the line that operators search for: a token's prefix, or a download's digest."""
    if entry.kind in (Kind.CLAIM_FILE_TAKEN, Kind.EVIDENCE_TAKEN):
        return [f"SHA-256 {entry.data.get('sha256', '')}"]
    if entry.by != By.COMPANY or not entry.actor or on_page(entry):
        return []
    return [gettext("API token %(prefix)s") % {"prefix": entry.actor}]


def changed_variables(diff: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each variable that was added, removed or changed."""
    for name, value in (diff.get("added") or {}).items():
        yield gettext("Added %(name)s: %(value)s") % {"name": name, "value": values.as_text(value)}
    for name in diff.get("removed") or {}:
        yield gettext("Removed %(name)s") % {"name": name}
    for name, change in (diff.get("changed") or {}).items():
        before, after = map(values.as_text, change)
        words = {"name": name, "before": before, "after": after}
        yield gettext("Changed %(name)s: %(before)s → %(after)s") % words


def load_lines(data: Mapping[str, Any]) -> list[LoadLine]:
    """Return the loads that explain an assignment, the lightest first."""
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
