"""A fault of the catalogue."""

from collections.abc import Iterator
from typing import NamedTuple


class Fault(NamedTuple):
    """Played by scenarios of `tools/faults/run`, by tests, or by both: it is survived if all hold.

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
    """The tests of a file below `tests/`, as pytest names them."""
    return (f"tests/{file}.py::{name}" for name in names)
