"""Faults of the catalogue."""

from collections.abc import Iterator
from typing import NamedTuple


class Fault(NamedTuple):
    """Fault, played by scenarios of `tools/faults/run`, tests, or both; survived if all pass.

    `why_not` is the reason why one machine cannot play it; then it is not counted.
    """

    number: str
    what: str
    plays: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def group(self) -> str:
        return self.number[0]


def in_tests(file: str, *names: str) -> Iterator[str]:
    """Yield pytest's names of tests of a file below `tests/`."""
    return (f"tests/{file}.py::{name}" for name in names)
