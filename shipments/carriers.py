"""Spellings of carriers' names, which are compared without case (decision N28). Pure."""

from collections.abc import Mapping

from core.values.texts import tidy


def carrier_key(name: str) -> str:
    """Return one key for all spellings of a carrier that differ in case, blanks or form."""
    return tidy(name).casefold()


def usual_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the most frequent spelling of each carrier by its key; `counts` is by spelling."""
    rarest_first = sorted(counts.items(), key=lambda one: (one[1], one[0]))
    return {carrier_key(name): name for name, _ in rarest_first}
