"""Companies, agents, carriers and types by their names: by words, parts of them, or nearly so."""

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
# Letters of which a part is looked for inside of a word; fewer begin one.
PART = 4
# Kana, ideographs and Hangul.
IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Letters of a word in which one may be wrong.
SHORTEST_NEAR, LONGEST_NEAR = 4, 40

# Over all names: some milliseconds for ten thousand.
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
    """A company, agent, carrier or type. An agent's `name` is their login, `full` what they are
    called; a carrier has no id, and several of them may be spellings of one.
    """

    id: int
    name: str
    words: str
    full: str = ""


def find_companies(words: list[str], most: int = MOST_FOUND) -> list[Name]:
    """Those whose names have all of these words or parts of words; those that begin so first."""
    if not words:
        return []
    plain = [plain_word(word) for word in words]
    given: dict[str, Any] = {
        "patterns": [pattern_of(word) for word in plain],
        "first": f" {plain[0]}%",
        "plain_from": PLAIN_FROM,
        "plain_to": PLAIN_TO,
        "most": most,
    }
    return [Name(*row) for row in read_rows(COMPANIES, given)]


def company_called(typed: str) -> Company | None:
    """The company of this id, or of this whole name in any case."""
    if typed.isdecimal():
        return Company.objects.filter(pk=typed_id(typed) or 0).first()
    return Company.objects.filter(same_text("name", typed)).order_by("pk").first()


def companies_like(typed: str, most: int = MOST_FOUND) -> list[Name]:
    """As find_companies, of what somebody typed."""
    return find_companies(search_terms.read_terms(typed).words, most)


def agents_like(typed: str, most: int = MOST_FOUND) -> list[Name]:
    """As find_agents, of what somebody typed."""
    return find_agents(search_terms.read_terms(typed).words, most)


def find_agents(words: list[str], most: int = MOST_FOUND) -> list[Name]:
    """Those who have words in their login or their name that begin so."""
    return begun_so(words, agent_names())[:most]


def find_carriers(words: list[str]) -> list[Name]:
    """All spellings that tickets have of the carriers with words that begin so."""
    return begun_so(words, carrier_spellings())


def find_types(words: list[str]) -> list[Name]:
    """The types of tickets with words that begin so, in any language of the desk."""
    return begun_so(words, names_of_types())


def begun_so(words: list[str], names: list[Name]) -> list[Name]:
    begun = [f" {plain_word(word)}" for word in words]
    return [one for one in names if words and all(word in f" {one.words}" for word in begun)]


def find_near_names(words: list[str]) -> tuple[list[Name], ...]:
    """Companies, agents and carriers whose names have these words but for one letter in each."""
    if not any(SHORTEST_NEAR <= len(word) <= LONGEST_NEAR for word in words):
        return [], [], []
    return tuple(
        [one for one in names if is_near(words, one.words)][:MOST_NEAR]
        for names in (near_candidates(words), agent_names(), carrier_spellings())
    )


def agent_names() -> list[Name]:
    """All of them, some seconds old."""
    return cached("agents:names", FRESH_SECONDS, read_agent_names)


def carrier_spellings() -> list[Name]:
    """Each spelling that tickets have, some seconds old."""
    return cached("carriers:names", FRESH_SECONDS, read_carrier_names)


def names_of_types() -> list[Name]:
    """All of them, by their names in each language; some seconds old."""
    return cached("types:names", FRESH_SECONDS, read_type_names)


def read_agent_names() -> list[Name]:
    return [
        Name(pk, login, plain_word(words), full) for pk, login, full, words in read_rows(AGENTS)
    ]


def read_carrier_names() -> list[Name]:
    found = some_carriers(MOST_CARRIERS)
    words = folded_names(found)
    return [Name(0, name, word) for name, word in zip(found, words, strict=True)]


def read_type_names() -> list[Name]:
    types = list(TicketType.objects.values_list("pk", "name"))
    said = [name.replace("_", " ") for _, name in types]
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            said = [
                f"{names} {type_label(name)}" for names, (_, name) in zip(said, types, strict=True)
            ]
    words = folded_names(said)
    return [Name(pk, name, word) for (pk, name), word in zip(types, words, strict=True)]


def folded_names(names: list[str]) -> list[str]:
    """Their words as searches have them."""
    return [plain_word(words or "") for (words,) in read_rows(FOLDED, [names])]


def near_candidates(words: list[str]) -> list[Name]:
    """Companies that have, for each word, one that is the same when each leaves out a letter."""
    conditions = " AND ".join(["found.nearly && %s::text[]"] * len(words))
    statement = NEAR_COMPANIES.format(conditions=conditions)
    found = read_rows(statement, [*map(left_out, words), MOST_CANDIDATES])
    return [Name(*row) for row in found]


def left_out(word: str) -> list[str]:
    """As search_names() keeps words: it, and each that has a letter less."""
    return [word, *(word[:at] + word[at + 1 :] for at in range(len(word)))]


def pattern_of(word: str) -> str:
    """A part of a name, or the beginning of a word; signs of Chinese and Japanese say more each."""
    within = len(word) >= PART or (len(word) > 1 and IDEOGRAPH.search(word))
    return f"%{word}%" if within else f"% {word}%"


def is_near(words: list[str], name: str) -> bool:
    theirs = name.split(" ")
    return all(any(differ_in_one(word, one) for one in theirs) for word in words)


def differ_in_one(typed: str, meant: str) -> bool:
    """At most one letter is wrong, missing, too much, or has changed places with the next."""
    if typed == meant:
        return True
    if len(typed) < SHORTEST_NEAR or abs(len(typed) - len(meant)) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(typed, meant, strict=False)) if a != b), None)
    if at is None:
        return True
    if len(typed) != len(meant):
        return typed[at + (len(typed) > len(meant)) :] == meant[at + (len(meant) > len(typed)) :]
    swapped = typed[:at] + typed[at : at + 2][::-1] + typed[at + 2 :]
    return typed[at + 1 :] == meant[at + 1 :] or swapped == meant
