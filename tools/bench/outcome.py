"""Outcome of a scenario: a table for people, figures for programs, and its verdict."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Table = Sequence[Sequence[object]]


@dataclass(frozen=True)
class Outcome:
    """Result of a scenario. `figures` become the last line of output; `troubles` void the run.

    `failures` are promises that the figures break; the figures stay valid and can be stored.
    """

    table: Table
    figures: dict[str, Any]
    troubles: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def show(self) -> None:
        for note in self.notes:
            print(f"{note}\n")
        print(aligned(self.table))
        for trouble in self.troubles:
            print(f"void: {trouble}")
        for failure in self.failures:
            print(f"FAILS: {failure}")
        line = json.dumps({"void": True, **self.figures} if self.troubles else self.figures)
        # Flush before the servers are stopped, so that a failure there cannot lose the line.
        print(line, flush=True)


def verdict(holds: bool) -> str:
    """Return the last cell of a judged row."""
    return "ok" if holds else "FAILS"


def aligned(table: Table) -> str:
    """Align the columns: the first to the left, figures to the right."""
    rows = [[str(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
