"""Column charts as SVG. Pure arithmetic without a database; a table has the same numbers."""

from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import NamedTuple

from django.utils.formats import number_format
from django.utils.translation import gettext

WIDTH, HEIGHT = 640, 200
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 44, 8, 10, 26
GRID = 4
# More labels would overlap.
MOST_LABELS = 8
# Limit for charts with few columns.
WIDEST = 48
LETTER_WIDTH = 6.2


class Bar(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    series: int
    tooltip: str


class AxisLabel(NamedTuple):
    """A text at a position of an axis."""

    at: float
    text: str


class Chart(NamedTuple):
    title: str
    series: Sequence[str]
    bars: list[Bar]
    labels: list[AxisLabel]
    grid: list[AxisLabel]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = MARGIN_LEFT
    right: int = WIDTH - MARGIN_RIGHT
    floor: int = HEIGHT - MARGIN_BOTTOM


def columns(
    title: str, series: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]], unit: str = ""
) -> Chart:
    """Draw a group of columns for each row, one column for each series."""
    top = round_up(max((value for _, values in rows for value in values), default=0))
    floor, inner = HEIGHT - MARGIN_BOTTOM, WIDTH - MARGIN_LEFT - MARGIN_RIGHT
    group = inner / max(len(rows), 1)
    width = min(group * 0.8, WIDEST * len(series)) / len(series)
    margin = (group - width * len(series)) / 2
    bars = []
    for place, (label, values) in enumerate(rows):
        for number, value in enumerate(values):
            height = (floor - MARGIN_TOP) * value / top
            x = MARGIN_LEFT + place * group + margin + number * width
            tooltip = gettext("%(label)s: %(value)s %(series)s") % {
                "label": label,
                "value": f"{number_text(value)}{unit}",
                "series": series[number],
            }
            bars.append(
                Bar(
                    round(x, 1),
                    round(floor - height, 1),
                    round(width, 1),
                    round(height, 1),
                    number,
                    tooltip,
                )
            )
    every = -(-len(rows) // MOST_LABELS) or 1
    labels = [
        AxisLabel(round(MARGIN_LEFT + (place + 0.5) * group, 1), shortened(label, every * group))
        for place, (label, _) in enumerate(rows)
        if place % every == 0
    ]
    grid = [
        AxisLabel(
            round(floor - (floor - MARGIN_TOP) * line / GRID, 1),
            f"{number_text(top * line / GRID)}{unit}",
        )
        for line in range(GRID + 1)
    ]
    return Chart(title, series, bars, labels, grid)


def number_text(value: float) -> str:
    return number_format(f"{value:.12g}", use_l10n=True, force_grouping=True)


def shortened(label: str, room: float) -> str:
    """Cut a label to its room; tooltips and the table have it in full."""
    most = int(room / LETTER_WIDTH)
    return label if len(label) <= most else f"{label[: most - 1]}…"


def round_up(most: float) -> float:
    """Return the smallest end of the scale that fits and whose quarters are whole numbers."""
    tops: Iterator[int] = (step * 10**zeros for zeros in count() for step in (20, 40, 80, 100))
    return next(top for top in chain((4, 8), tops) if top >= most)
