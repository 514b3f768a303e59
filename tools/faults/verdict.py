"""Verdict on the figures of a scenario."""

from collections.abc import Mapping
from typing import Any

Figures = dict[str, Any]
# Figures, and a line for each broken promise.
Verdict = tuple[Figures, list[str]]


class NotHere(RuntimeError):
    """Error for a scenario that this machine cannot play; the message is the reason."""


# Figures that must be 0 in every scenario.
NEVER = ("lost", "unexpected", "out_of_order", "dishonest_repeats", "badly_signed")


def broken(
    figures: Figures,
    *,
    at_most: Mapping[str, float] | None = None,
    at_least: Mapping[str, float] | None = None,
) -> list[str]:
    """Return a line for each promise that the figures break.

    A bounded figure that is None breaks its promise.
    """
    bounds = {name: 0.0 for name in NEVER if name in figures} | dict(at_most or {})
    return [
        f"{name} is {figures[name]}, and must be at most {bound:g}"
        for name, bound in bounds.items()
        if figures[name] is None or figures[name] > bound
    ] + [
        f"{name} is {figures[name]}, and must be at least {bound:g}"
        for name, bound in (at_least or {}).items()
        if figures[name] is None or figures[name] < bound
    ]
