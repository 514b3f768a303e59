"""Faults written down as small changes of the code, for `faults/mutants`."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One change: `old` occurs exactly once in `file` and becomes `new`.

    `harm` is what a user would see.
    """

    name: str
    file: str
    old: str
    new: str
    harm: str
