"""Figures as a table of Markdown."""

from typing import Any

from bench.outcome import Table

Figures = dict[str, Any]


def markdown(table: Table) -> str:
    head, *rows = [[str(cell) for cell in row] for row in table]
    ruler = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ruler, *rows])


def number(value: float, digits: int = 0) -> str:
    """With commas between the thousands."""
    return f"{value:,.{digits}f}"


def ms(value: float | None, digits: int = 1) -> str:
    """Milliseconds; None where what was waited for did not come."""
    return "never" if value is None else number(value, digits)
