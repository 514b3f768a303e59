"""Whether the figures of a scenario keep what is promised."""

from collections.abc import Mapping
from typing import Any

Figures = dict[str, Any]
# The figures, and a line for each promise that they break.
Verdict = tuple[Figures, list[str]]


class NotHere(RuntimeError):
    """This machine cannot play the scenario; the message says why."""


# Of these there must be none, whatever was done to the service.
NEVER = ("lost", "unexpected", "out_of_order", "dishonest_repeats", "badly_signed")


def broken(
    found: Figures,
    *,
    at_most: Mapping[str, float] | None = None,
    at_least: Mapping[str, float] | None = None,
) -> list[str]:
    """A line for each promise that the figures break.

    A figure with a bound that is missing (None) breaks its promise.
    """
    bounds = {name: 0.0 for name in NEVER if name in found} | dict(at_most or {})
    return [
        f"{name} is {found[name]}, and must be at most {bound:g}"
        for name, bound in bounds.items()
        if found[name] is None or found[name] > bound
    ] + [
        f"{name} is {found[name]}, and must be at least {bound:g}"
        for name, bound in (at_least or {}).items()
        if found[name] is None or found[name] < bound
    ]
