"""Banned words of a language's glossary in docs/, which no translation may say."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polib

from tools.dev.bootstrap import ROOT

GLOSSARIES = {"es": ROOT / "docs" / "spanish.md"}
# Columns of the page's tables; a word that ends in * has any ending.
BANNED = "| English | Spanish | Never |"
EXCEPTIONS = "| Sentence | Says | Why |"
# Names and tags in a sentence are no words of it.
PLACE = re.compile(r"%\(\w+\)[sd]|{\w*}|<[^>]*>")


class Banned(NamedTuple):
    word: str
    pattern: re.Pattern[str]
    instead: str


class Breach(NamedTuple):
    """A translation that says a banned word."""

    msgid: str
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.msgid!r} says {self.word!r}: write {self.instead}"


def breaches(catalogue: polib.POFile, page: Path) -> Iterator[Breach]:
    """Yield what the glossary on this page bans, except where it lists an exception."""
    text = page.read_text()
    banned = banned_words(text)
    allowed = [(start.strip("…"), word) for start, word, _ in table(text, EXCEPTIONS)]
    for entry in catalogue:
        translation = PLACE.sub(" ", " ".join([entry.msgstr, *entry.msgstr_plural.values()]))
        for word, pattern, instead in banned:
            excused = any(entry.msgid.startswith(one) for one, says in allowed if says == word)
            if pattern.search(translation) and not excused:
                yield Breach(entry.msgid, word, instead)


def banned_words(text: str) -> list[Banned]:
    return [
        Banned(word, pattern_of(word), instead)
        for _, instead, words in table(text, BANNED)
        for word in filter(None, words.split(", "))
    ]


def pattern_of(word: str) -> re.Pattern[str]:
    """Match the word as a whole, or its plural, in any case."""
    stem, any_ending, _ = word.partition("*")
    forms = re.escape(stem) + (r"\w*" if any_ending else "(?:e?s)?")
    if stem.endswith("ión"):
        forms += f"|{stem.removesuffix('ión')}iones"
    return re.compile(rf"(?<![\w-])(?:{forms})(?![\w-])", re.IGNORECASE)


def table(text: str, header: str) -> list[list[str]]:
    """Return the cells of the rows below a header; none if the text lacks it."""
    rows = text.partition(f"{header}\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]
