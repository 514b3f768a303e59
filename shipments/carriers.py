"""Which names mean the same carrier: case makes none of its own (decision N28). Pure."""

from collections.abc import Mapping

from core.values.texts import tidy


def carrier_key(name: str) -> str:
    """Return one key for all spellings of a carrier that differ in case, blanks or form."""
    return tidy(name).casefold()


def usual_spellings(found: Mapping[str, int]) -> dict[str, str]:
    """How each carrier is spelt most often, by its key; `found` counts spellings."""
    often = sorted(found.items(), key=lambda one: (one[1], one[0]))
    return {carrier_key(name): name for name, _ in often}
