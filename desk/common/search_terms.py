"""Parser of search texts; words are folded by the same SQL functions as the stored texts."""

import re
from typing import NamedTuple

from core.data.statements import read_rows
from core.values.ids import read_id
from core.values.spellings import plain_digits, word_spellings
from tickets.relevance import fold_accents

LONGEST = 200
CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
# Placeholder for a block's name until the statement knows it; typed text never contains it.
BLOCK = "\x01"
MOST_WORDS = 10
# Letters beyond it are ignored.
LONGEST_WORD = 60
# Shorter words match only as a whole: "of" does not find "office".
SHORTEST_BEGINNING = 3
# Letters per indexed part of a tracking number, as in the search entries of tickets.
PART = 4
MOST_PARTS_OF_NUMBER = 12
# A quoted phrase or a word; a minus sign excludes either.
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
    """A parsed search. `wanted` and `excluded` are terms of a tsquery, each prefixed with BLOCK."""

    typed: str
    # Words in their order, without phrases and excluded words.
    words: list[str]
    wanted: list[str]
    excluded: list[str]
    phrases: list[str]
    # The text without spaces and signs, as tracking numbers and as variables are stored.
    key: str
    value: str
    # A possible id; `is_ticket` if it was written #1150 or named as a ticket.
    number: int | None
    is_ticket: bool

    @property
    def query(self) -> str:
        """Query (tsquery) of words that a text must and must not have; empty if none is wanted."""
        if not self.wanted:
            return ""
        return " & ".join([*self.wanted, *(f"!({one})" for one in self.excluded)])

    @property
    def value_query(self) -> str:
        """Query for a whole value of the variables, such as an order number."""
        fits = PART <= len(self.value) <= 40 and any(map(str.isdigit, self.value))
        return search_term("=", self.value) if fits and not self.phrases else ""

    @property
    def part(self) -> str:
        """Part of a tracking number; empty if the text cannot be one."""
        fits = PART <= len(self.key) <= 60 and not self.phrases
        # Several words without a digit are a sentence.
        return self.key if fits and (len(self.words) == 1 or has_digit(self.key)) else ""

    @property
    def part_query(self) -> str:
        grams = [self.part[at : at + PART] for at in range(len(self.part) - PART + 1)]
        return " & ".join(search_term("#", gram) for gram in grams[:MOST_PARTS_OF_NUMBER])


def read_terms(typed: str) -> Terms:
    """Parse a search text; only LONGEST letters and MOST_WORDS words of it count."""
    typed = CONTROLS.sub(" ", typed).strip()[:LONGEST]
    parts = [
        (sign == "-" or (word.startswith("-") and len(word) > 1), bool(phrase), phrase or word)
        for sign, phrase, word in PARTS.findall(typed)
    ][:MOST_WORDS]
    folded, key, value = fold_typed([text for _, _, text in parts], plain_digits(typed))
    words_left = MOST_WORDS
    words: list[str] = []
    wanted: list[str] = []
    excluded: list[str] = []
    phrases: list[str] = []
    for (is_excluded, is_phrase, _), text in zip(parts, folded, strict=True):
        part_words = [word[:LONGEST_WORD] for word in text.split()[:words_left]]
        words_left -= len(part_words)
        if not part_words:
            continue
        if is_excluded:
            excluded.append(all_of(part_words))
        elif is_phrase:
            phrases.append(" ".join(part_words))
            wanted.append(all_of(part_words))
        else:
            words += part_words
            wanted.append(beginning_with(part_words))
    plain = plain_digits(typed)
    ticket_match = NAMED_TICKET.fullmatch(fold_accents(plain))
    number = read_id(next(filter(None, ticket_match.groups())) if ticket_match else plain)
    is_ticket = ticket_match is not None and number is not None
    return Terms(
        typed, words, wanted, excluded, phrases, key[:LONGEST], value[:LONGEST], number, is_ticket
    )


def fold_typed(parts: list[str], typed: str) -> tuple[list[str], str, str]:
    ((folded, key, value),) = read_rows(FOLD, [parts, typed, typed])
    return folded, key, value


def all_of(words: list[str]) -> str:
    return " & ".join(any_spelling(word) for word in words)


def beginning_with(words: list[str]) -> str:
    """Combine words, of which the last may be a prefix: `ALT-20209` also finds ALT-202091."""
    *whole, last = words
    prefix_mark = ":*" if len(last) >= SHORTEST_BEGINNING else ""
    return " & ".join([*map(any_spelling, whole), any_spelling(last, prefix_mark)])


def any_spelling(word: str, prefix_mark: str = "") -> str:
    """Combine the spellings of a word: digits of other scripts, either sigma at its end."""
    terms = [search_term(" ", one) + prefix_mark for one in word_spellings(word)]
    return terms[0] if len(terms) == 1 else f"({' | '.join(terms)})"


def search_term(kind: str, text: str) -> str:
    """Quote a term as SQL's search_terms() writes it, prefixed with the name of its block."""
    for special in "\\'":
        text = text.replace(special, special * 2)
    return f"'{BLOCK}{kind}{text}'"


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
