"""What somebody typed into a search, taken apart; folded by the functions that folded the texts."""

import re
from typing import NamedTuple

from core.data.statements import read_rows
from core.values.ids import read_id
from core.values.spellings import plain_digits, word_spellings
from tickets.relevance import without_accents

LONGEST = 200
CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
# Stands for the name of a block until the statement knows it; nothing that is typed has it.
BLOCK = "\x01"
MOST_WORDS = 10
# More of a word makes no difference.
LONGEST_WORD = 60
# Shorter ones are words only as they stand: "of" is not the beginning of "office".
SHORTEST_BEGINNING = 3
# Letters of a part of a tracking number, as the entries of tickets have them.
PART = 4
MOST_PARTS_OF_NUMBER = 12
# A phrase, or what stands between spaces; either may be excluded.
PARTS = re.compile(r'(?<!\S)(-?)"([^"]*)"|(\S+)')
# A ticket as people name it: #399, "folio 399", "ticket no. 399", or the subject of an e-mail that
# the service sent.
NUMBER = r"\s*(?:(?:number|numero|num|nro|n)[.\u00b0]?o?\.?)?\s*#?\s*(\d+)"
NAMED_TICKET = re.compile(
    rf"[^\d\"]{{0,40}}\b(?:ticket|folio){NUMBER}(?!\w).*|(?:caso|case){NUMBER}|#\s*(\d+)"
)
FOLD = """
SELECT array(SELECT search_words(part) FROM unnest(%s::text[]) WITH ORDINALITY AS t(part, place)
  ORDER BY place),
  search_key(%s), regexp_replace(search_folded(%s), '[- _/#]+', '', 'g')
"""


class Terms(NamedTuple):
    """`wanted` and `excluded` words are as PostgreSQL takes them in a query, each behind BLOCK."""

    typed: str
    # The words of it, in their order, without phrases and what is excluded.
    words: list[str]
    wanted: list[str]
    excluded: list[str]
    phrases: list[str]
    # It without spaces and signs, as a tracking number is kept, and as a variable is.
    key: str
    value: str
    # The id that was perhaps meant; `is_ticket`: it was written #1150, or named as a ticket.
    number: int | None
    is_ticket: bool

    @property
    def query(self) -> str:
        """For PostgreSQL: words that a text must have and must not have. Empty where none is."""
        if not self.wanted:
            return ""
        return " & ".join([*self.wanted, *(f"!({one})" for one in self.excluded)])

    @property
    def value_query(self) -> str:
        """A whole value of the variables, such as an order number."""
        fits = PART <= len(self.value) <= 40 and any(map(str.isdigit, self.value))
        return search_term("=", self.value) if fits and not self.phrases else ""

    @property
    def part(self) -> str:
        """A part of a tracking number; empty where it can be none."""
        fits = PART <= len(self.key) <= 60 and not self.phrases
        # Several words without a digit are a sentence.
        return self.key if fits and (len(self.words) == 1 or has_digit(self.key)) else ""

    @property
    def part_query(self) -> str:
        grams = [self.part[at : at + PART] for at in range(len(self.part) - PART + 1)]
        return " & ".join(search_term("#", gram) for gram in grams[:MOST_PARTS_OF_NUMBER])


def read_terms(typed: str) -> Terms:
    """Of it, at most LONGEST letters and MOST_WORDS words count."""
    typed = CONTROLS.sub(" ", typed).strip()[:LONGEST]
    parts = [
        (sign == "-" or (word.startswith("-") and len(word) > 1), bool(phrase), phrase or word)
        for sign, phrase, word in PARTS.findall(typed)
    ][:MOST_WORDS]
    folded, key, value = fold_typed([text for _, _, text in parts], plain_digits(typed))
    left = MOST_WORDS
    words: list[str] = []
    wanted: list[str] = []
    excluded: list[str] = []
    phrases: list[str] = []
    for (out, is_phrase, _), text in zip(parts, folded, strict=True):
        these = [word[:LONGEST_WORD] for word in text.split()[:left]]
        left -= len(these)
        if not these:
            continue
        if out:
            excluded.append(all_of(these))
        elif is_phrase:
            phrases.append(" ".join(these))
            wanted.append(all_of(these))
        else:
            words += these
            wanted.append(beginning_with(these))
    plain = plain_digits(typed)
    named = NAMED_TICKET.fullmatch(without_accents(plain))
    number = read_id(next(filter(None, named.groups())) if named else plain)
    is_ticket = named is not None and number is not None
    return Terms(
        typed, words, wanted, excluded, phrases, key[:LONGEST], value[:LONGEST], number, is_ticket
    )


def fold_typed(parts: list[str], typed: str) -> tuple[list[str], str, str]:
    ((folded, key, value),) = read_rows(FOLD, [parts, typed, typed])
    return folded, key, value


def all_of(words: list[str]) -> str:
    return " & ".join(any_spelling(word) for word in words)


def beginning_with(words: list[str]) -> str:
    """The last may go on: `ALT-20209` also finds ALT-202091."""
    *whole, last = words
    goes_on = ":*" if len(last) >= SHORTEST_BEGINNING else ""
    return " & ".join([*map(any_spelling, whole), any_spelling(last, goes_on)])


def any_spelling(word: str, goes_on: str = "") -> str:
    """A word with the digits of other scripts, and with either sigma at its end."""
    terms = [search_term(" ", one) + goes_on for one in word_spellings(word)]
    return terms[0] if len(terms) == 1 else f"({' | '.join(terms)})"


def search_term(kind: str, text: str) -> str:
    """A term of search_terms(): behind the name of its block."""
    for special in "\\'":
        text = text.replace(special, special * 2)
    return f"'{BLOCK}{kind}{text}'"


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
