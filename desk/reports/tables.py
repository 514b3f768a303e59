"""Tables of what was counted: what a page shows, charts, prints and exports is all the same."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext, gettext_lazy

from core.data.reading_order import reading_key
from desk.common.generics import StrPromise
from desk.reports import charts
from desk.reports.cells import Cell, PlainNumbers, share_cell, text_cell
from desk.reports.counting import Counts, Groups, Names
from desk.reports.measures import ALL_MEASURES, NOBODY
from tickets.labels import type_label

# Groups that a chart has room for.
MOST_CHARTED = 12
# Of a table on a page; its file has all.
MOST_ROWS = 50


class Table(NamedTuple):
    slug: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    chart: charts.Chart | None = None
    # How many rows the file has besides.
    more: int = 0


class Share(NamedTuple):
    """A column that says which part of some measures one of them is."""

    title: StrPromise
    part: str
    whole: tuple[str, ...]

    def of(self, counts: Counts) -> tuple[int, int]:
        return counts.get(self.part, 0), sum(counts.get(one, 0) for one in self.whole)

    def cell(self, counts: Counts) -> Cell:
        return share_cell(*self.of(counts))


ACCEPTED = Share(gettext_lazy("Share accepted"), "accepted", ("decided",))
Column = str | Share


class Charted(NamedTuple):
    """The chart of a table by group: measures beside each other, or one share of each in %."""

    title: str
    series: Mapping[str, str]
    share: Share | None = None

    def values(self, counts: Counts) -> tuple[int, ...]:
        if self.share is None:
            return tuple(counts.get(one, 0) for one in self.series)
        part, whole = self.share.of(counts)
        return (round(100 * part / whole),)


class Grouped(NamedTuple):
    """A table with a row for each type, carrier or agent.

    Those with the most tickets of the measure `by` come first. What is nobody's stands before all
    others where `nobody` is -1, after them where it is 1.
    """

    slug: str
    dimension: str
    columns: Sequence[Column]
    by: str
    nobody: int = 0
    chart: Charted | None = None


class Drawing(NamedTuple):
    """What was counted by group, what those are called, and where their numbers lead."""

    groups: Groups
    names: Names
    numbers: PlainNumbers
    most: int | None = None

    def named(self, dimension: str, key: Any) -> tuple[str, dict[str, Any]]:
        """What a group is called, and how a list is narrowed to it."""
        if dimension == "type_id":
            return type_label(self.names.types.get(key, str(key))), {"type": key}
        if dimension == "carrier_name":
            return key or gettext("unknown"), {"carrier_name": key or NOBODY}
        user = self.names.users.get(key)
        return user or gettext("nobody"), {"agent": user or NOBODY}

    def table(self, wanted: Grouped) -> Table:
        counted = self.groups[wanted.dimension]
        named = {key: self.named(wanted.dimension, key) for key in counted}
        order = sorted(
            counted,
            key=lambda key: (
                wanted.nobody if key in (None, "") else 0,
                -counted[key].get(wanted.by, 0),
                reading_key(named[key][0]),
            ),
        )
        rows = [
            [text_cell(named[key][0]), *self.cells(wanted, counted[key], named[key][1])]
            for key in order[: self.most]
        ]
        heading, title = headings()[wanted.dimension]
        columns = [heading, *(str(title_of(column)) for column in wanted.columns)]
        chart = wanted.chart and charts.columns(
            wanted.chart.title,
            list(wanted.chart.series.values()),
            [
                (named[key][0], wanted.chart.values(counted[key]))
                for key in charted(wanted.chart, order, counted)
            ],
            "%" if wanted.chart.share else "",
        )
        return Table(wanted.slug, title, columns, rows, chart, more=len(order) - len(rows))

    def cells(self, wanted: Grouped, counts: Counts, narrowed: dict[str, Any]) -> list[Cell]:
        return [
            column.cell(counts)
            if isinstance(column, Share)
            else self.numbers.number(column, counts.get(column, 0), **narrowed)
            for column in wanted.columns
        ]


def charted(chart: Charted, order: Sequence[Any], counted: Mapping[Any, Counts]) -> list[Any]:
    """Of a share only those that have one, and a name."""
    if chart.share:
        order = [key for key in order if key and chart.share.of(counted[key])[1]]
    return list(order[:MOST_CHARTED])


def title_of(column: Column) -> StrPromise:
    return column.title if isinstance(column, Share) else ALL_MEASURES[column].title


def headings() -> dict[str, tuple[str, str]]:
    """Of the first column, and of the table."""
    return {
        "type_id": (gettext("Type"), gettext("By type")),
        "carrier_name": (gettext("Carrier"), gettext("By carrier")),
        "user_id": (gettext("Agent"), gettext("By agent")),
    }
