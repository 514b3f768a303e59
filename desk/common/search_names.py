"""Search for companies, agents, carriers and ticket types by name, also with typing errors."""

import re
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import translation

from companies.models import Company
from core.data.statements import read_rows
from core.values.spellings import PLAIN_FROM, PLAIN_TO, plain_word, same_text, typed_id
from desk.common import search_terms
from desk.common.cache import cached
from tickets.labels import type_label
from tickets.models import TicketType
from tickets.models.carriers import some_carriers

MOST_FOUND = 20
MOST_NEAR = 3
MOST_CANDIDATES = 200
MOST_CARRIERS = 1_000
FRESH_SECONDS = 30
# Minimum letters to match inside of a word; shorter texts match beginnings only.
PART = 4
# Kana, ideographs and Hangul.
IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Letters of a word that may have a typing error.
SHORTEST_NEAR, LONGEST_NEAR = 4, 40

# Scans all names: some milliseconds for ten thousand.
COMPANIES = """
SELECT company.id, company.name, found.words FROM companies_searchname found
JOIN companies_company company ON company.id = found.company_id
CROSS JOIN LATERAL (
  SELECT ' ' || translate(found.words, %(plain_from)s, %(plain_to)s) AS words
) plain
WHERE plain.words LIKE ALL(%(patterns)s)
ORDER BY plain.words NOT LIKE %(first)s, reading_order(company.name) COLLATE "C",
  company.id LIMIT %(most)s
"""
NEAR_COMPANIES = """
SELECT company.id, company.name, found.words FROM companies_searchname found
JOIN companies_company company ON company.id = found.company_id
WHERE {conditions} ORDER BY company.id LIMIT %s
"""
AGENTS = """
SELECT agent.id, person.username, btrim(concat_ws(' ', person.first_name, person.last_name)),
  search_words(concat_ws(' ', person.first_name, person.last_name, person.username))
FROM tickets_agent agent JOIN auth_user person ON person.id = agent.user_id
ORDER BY reading_order(person.username) COLLATE "C"
"""


FOLDED = """
SELECT search_words(name) FROM unnest(%s::text[]) WITH ORDINALITY AS t(name, place) ORDER BY place
"""


class Name(NamedTuple):
    """Name of a company, agent, carrier or ticket type.

    An agent's `name` is their login, `full` their full name. A carrier has no id (0), and several
    rows may be spellings of one carrier.
    """

    id: int
    name: str
    words: str
    full: str = ""


def find_companies(words: list[str], most: int = MOST_FOUND) -> list[Name]:
    """Find companies by words or parts of words, prefix matches of the first word first."""
    if not words:
        return []
    plain = [plain_word(word) for word in words]
    parameters: dict[str, Any] = {
        "patterns": [pattern_of(word) for word in plain],
        "first": f" {plain[0]}%",
        "plain_from": PLAIN_FROM,
        "plain_to": PLAIN_TO,
        "most": most,
    }
    return [Name(*row) for row in read_rows(COMPANIES, parameters)]


def company_by_id_or_name(typed: str) -> Company | None:
    """Return the company with this id, or with exactly this name in any case."""
    if typed.isdecimal():
        return Company.objects.filter(pk=typed_id(typed) or 0).first()
    return Company.objects.filter(same_text("name", typed)).order_by("pk").first()


def search_companies(typed: str, most: int = MOST_FOUND) -> list[Name]:
    """Find companies by the text of a search box."""
    return find_companies(search_terms.read_terms(typed).words, most)


def search_agents(typed: str, most: int = MOST_FOUND) -> list[Name]:
    """Find agents by the text of a search box."""
    return find_agents(search_terms.read_terms(typed).words, most)


def find_agents(words: list[str], most: int = MOST_FOUND) -> list[Name]:
    """Find agents by beginnings of words of their login or full name."""
    return with_prefixes(words, agent_names())[:most]


def find_carriers(words: list[str]) -> list[Name]:
    """Find carriers, in every spelling on tickets, by beginnings of words."""
    return with_prefixes(words, carrier_names())


def find_types(words: list[str]) -> list[Name]:
    """Find ticket types by beginnings of words, in any language of the desk."""
    return with_prefixes(words, type_names())


def with_prefixes(words: list[str], names: list[Name]) -> list[Name]:
    prefixes = [f" {plain_word(word)}" for word in words]
    return [one for one in names if words and all(word in f" {one.words}" for word in prefixes)]


def find_near_names(words: list[str]) -> tuple[list[Name], ...]:
    """Find companies, agents and carriers whose names differ by at most one letter per word."""
    if not any(SHORTEST_NEAR <= len(word) <= LONGEST_NEAR for word in words):
        return [], [], []
    return tuple(
        [one for one in names if is_near(words, one.words)][:MOST_NEAR]
        for names in (near_candidates(words), agent_names(), carrier_names())
    )


def agent_names() -> list[Name]:
    """Return all agents; cached for some seconds."""
    return cached("agents:names", FRESH_SECONDS, read_agent_names)


def carrier_names() -> list[Name]:
    """Return each spelling of a carrier on tickets; cached for some seconds."""
    return cached("carriers:names", FRESH_SECONDS, read_carrier_names)


def type_names() -> list[Name]:
    """Return all ticket types with their names in each language; cached for some seconds."""
    return cached("types:names", FRESH_SECONDS, read_type_names)


def read_agent_names() -> list[Name]:
    return [
        Name(pk, login, plain_word(words), full) for pk, login, full, words in read_rows(AGENTS)
    ]


def read_carrier_names() -> list[Name]:
    names = some_carriers(MOST_CARRIERS)
    words = folded_names(names)
    return [Name(0, name, word) for name, word in zip(names, words, strict=True)]


def read_type_names() -> list[Name]:
    types = list(TicketType.objects.values_list("pk", "name"))
    texts = [name.replace("_", " ") for _, name in types]
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            texts = [
                f"{names} {type_label(name)}" for names, (_, name) in zip(texts, types, strict=True)
            ]
    words = folded_names(texts)
    return [Name(pk, name, word) for (pk, name), word in zip(types, words, strict=True)]


def folded_names(names: list[str]) -> list[str]:
    """Return the words of names in the form that searches use."""
    return [plain_word(words or "") for (words,) in read_rows(FOLDED, [names])]


def near_candidates(words: list[str]) -> list[Name]:
    """Find companies with, for each word, one that is equal if each may drop a letter."""
    conditions = " AND ".join(["found.nearly && %s::text[]"] * len(words))
    statement = NEAR_COMPANIES.format(conditions=conditions)
    rows = read_rows(statement, [*map(deletion_variants, words), MOST_CANDIDATES])
    return [Name(*row) for row in rows]


def deletion_variants(word: str) -> list[str]:
    """Return a word and its variants without one letter, as SQL's search_names() stores them."""
    return [word, *(word[:at] + word[at + 1 :] for at in range(len(word)))]


def pattern_of(word: str) -> str:
    """Return a word's LIKE pattern: infix from PART letters or two ideographs on, else prefix."""
    within = len(word) >= PART or (len(word) > 1 and IDEOGRAPH.search(word))
    return f"%{word}%" if within else f"% {word}%"


def is_near(words: list[str], name: str) -> bool:
    theirs = name.split(" ")
    return all(any(differ_in_one(word, one) for one in theirs) for word in words)


def differ_in_one(typed: str, name: str) -> bool:
    """Tell whether two words differ by one edit: a letter changed, added, missing or swapped."""
    if typed == name:
        return True
    if len(typed) < SHORTEST_NEAR or abs(len(typed) - len(name)) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(typed, name, strict=False)) if a != b), None)
    if at is None:
        return True
    if len(typed) != len(name):
        return typed[at + (len(typed) > len(name)) :] == name[at + (len(name) > len(typed)) :]
    swapped = typed[:at] + typed[at : at + 2][::-1] + typed[at + 2 :]
    return typed[at + 1 :] == name[at + 1 :] or swapped == name
