"""Search for tickets by id, number, name or words.

The search yields a short list of ids, each part through its own index; the list's filters then
apply to those. In a single statement PostgreSQL might choose to scan all tickets instead. The
reasons: decision page desk-search-folds-and-goes-block-by-block.
"""

from typing import Any, NamedTuple

from django.utils.text import capfirst
from django.utils.translation import gettext

from core.data.statements import read_rows
from core.values.spellings import PLAIN_FROM, PLAIN_TO, plain_word
from desk.common import search_names
from desk.common.search_names import Name
from desk.common.search_terms import Terms
from desk.queue import search_statements
from shipments.carriers import carrier_key
from tickets.labels import type_label

MOST_FOUND = 1_000
# Matching companies and agents, at most, whose tickets a search includes.
MOST_COMPANIES = 20
MOST_AGENTS = 5


class Matches(NamedTuple):
    """Ids of the newest matching tickets; `more` if there are older ones.

    The newest tickets of these companies, agents, carriers and types are among them.
    """

    ids: list[int]
    more: bool
    companies: list[Name]
    agents: list[Name]
    carriers: list[Name]
    types: list[Name]

    @property
    def included(self) -> list[str]:
        """Sentences, one per kind, that name whose tickets are included."""
        carriers = {carrier_key(one.name): one.name for one in reversed(self.carriers)}
        kinds = [
            (
                gettext("Includes the tickets of these companies: %(names)s"),
                names_of(self.companies),
            ),
            (gettext("Includes the tickets of these agents: %(names)s"), names_of(self.agents)),
            (gettext("Includes the tickets of these carriers: %(names)s"), carriers.values()),
            (
                gettext("Includes the tickets of these types: %(names)s"),
                [capfirst(type_label(one.name)) for one in self.types],
            ),
        ]
        return [text % {"names": ", ".join(names)} for text, names in kinds if names]


def names_of(rows: list[Name]) -> list[str]:
    return [row.name for row in rows]


def search_tickets(terms: Terms, most: int = MOST_FOUND) -> Matches:
    """Find the newest tickets that match, `most` at most."""
    if not terms.typed:
        return Matches([], False, [], [], [], [])
    plain = [] if terms.phrases or terms.excluded else terms.words
    companies = search_names.find_companies(plain, MOST_COMPANIES)
    agents = search_names.find_agents(plain, MOST_AGENTS)
    carriers = search_names.find_carriers(plain)
    types = search_names.find_types(plain)
    union = " UNION ".join(f"({part})" for part in parts_of(terms))
    statement = (
        f"SELECT id FROM ({union}) AS found WHERE id IS NOT NULL"  # noqa: S608 - our own parts
        " ORDER BY id DESC LIMIT %(most)s"
    )
    parameters = {
        **search_parameters(terms, most + 1),
        "companies": [one.id for one in companies],
        "agents": [one.id for one in agents],
        "carriers": [one.name for one in carriers],
        "types": [one.id for one in types],
    }
    ids = fetch_ids(statement, parameters)
    return Matches(ids[:most], len(ids) > most, companies, agents, carriers, types)


def parts_of(terms: Terms) -> list[str]:
    """Return the statements by which these terms may find a ticket."""
    ways = search_statements
    parts = [ways.BY_TRACKING, *ways.BY_NAMES]
    if terms.number is not None:
        parts += [ways.BY_ID, ways.BY_SHIPMENT]
    if terms.part:
        parts.append(ways.IN_PARTS)
    if terms.value_query:
        parts.append(ways.IN_VALUES)
    if terms.query:
        parts += ways.with_words(phrases=bool(terms.phrases))
    return parts


def search_parameters(terms: Terms, most: int) -> dict[str, Any]:
    return {
        "number": terms.number,
        "key": terms.key,
        "part": terms.part,
        "part_words": terms.part_query,
        "value": terms.value_query,
        "words": terms.query,
        "phrases": [plain_word(phrase) for phrase in terms.phrases],
        "plain_from": PLAIN_FROM,
        "plain_to": PLAIN_TO,
        "typed": terms.typed,
        "most": most,
    }


def exact_ticket(terms: Terms) -> int | None:
    """Return the ticket with this number, or the only one with this shipment or order number."""
    if not terms.typed or terms.phrases or terms.excluded:
        return None
    parameters = search_parameters(terms, 2)
    ways = search_statements
    if terms.is_ticket:
        return only(fetch_ids(ways.BY_ID, parameters))
    numbers = [ways.BY_ID, f"{ways.BY_SHIPMENT} LIMIT 2"] if terms.number is not None else []
    parts = [*numbers, f"{ways.BY_TRACKING} LIMIT 2"]
    ids = fetch_ids(" UNION ".join(f"({part})" for part in parts), parameters)
    if ids or not terms.value_query:
        return only(ids)
    return only(fetch_ids(ways.IN_VALUES, parameters))


def only(ids: list[int]) -> int | None:
    return ids[0] if len(ids) == 1 else None


def fetch_ids(statement: str, parameters: dict[str, Any]) -> list[int]:
    return [ticket_id for (ticket_id,) in read_rows(statement, parameters)]
