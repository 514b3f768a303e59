"""Tables of counts, from which a page's table, its chart, its print and its export are made."""

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
# Rows of a table on a page; its exported file has all.
MOST_ROWS = 50


class Table(NamedTuple):
    slug: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    chart: charts.Chart | None = None
    # Number of further rows in the exported file.
    more: int = 0


class Share(NamedTuple):
    """A column with the share of one measure in the sum of others."""

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
    """The chart of a table: several measures per group, or one share per group in percent."""

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

    Rows are in descending order of the measure `by`. The row without an agent or carrier comes
    first if `nobody` is -1, last if it is 1.
    """

    slug: str
    dimension: str
    columns: Sequence[Column]
    by: str
    nobody: int = 0
    chart: Charted | None = None


class Drawing(NamedTuple):
    """Builder of tables from counts by group, the groups' names, and the linked numbers."""

    groups: Groups
    names: Names
    numbers: PlainNumbers
    most: int | None = None

    def name_and_filter(self, dimension: str, key: Any) -> tuple[str, dict[str, Any]]:
        """Return a group's name, and the filter of the list of its tickets."""
        if dimension == "type_id":
            return type_label(self.names.types.get(key, str(key))), {"type": key}
        if dimension == "carrier_name":
            return key or gettext("unknown"), {"carrier_name": key or NOBODY}
        user = self.names.users.get(key)
        return user or gettext("nobody"), {"agent": user or NOBODY}

    def table(self, wanted: Grouped) -> Table:
        groups = self.groups[wanted.dimension]
        labels = {key: self.name_and_filter(wanted.dimension, key) for key in groups}
        order = sorted(
            groups,
            key=lambda key: (
                wanted.nobody if key in (None, "") else 0,
                -groups[key].get(wanted.by, 0),
                reading_key(labels[key][0]),
            ),
        )
        rows = [
            [text_cell(labels[key][0]), *self.cells(wanted, groups[key], labels[key][1])]
            for key in order[: self.most]
        ]
        heading, title = headings()[wanted.dimension]
        columns = [heading, *(str(title_of(column)) for column in wanted.columns)]
        chart = wanted.chart and charts.columns(
            wanted.chart.title,
            list(wanted.chart.series.values()),
            [
                (labels[key][0], wanted.chart.values(groups[key]))
                for key in charted(wanted.chart, order, groups)
            ],
            "%" if wanted.chart.share else "",
        )
        return Table(wanted.slug, title, columns, rows, chart, more=len(order) - len(rows))

    def cells(self, wanted: Grouped, counts: Counts, filters: dict[str, Any]) -> list[Cell]:
        return [
            column.cell(counts)
            if isinstance(column, Share)
            else self.numbers.number(column, counts.get(column, 0), **filters)
            for column in wanted.columns
        ]


def charted(chart: Charted, order: Sequence[Any], groups: Mapping[Any, Counts]) -> list[Any]:
    """Return the keys that fit into the chart; a chart of shares skips groups without one."""
    if chart.share:
        order = [key for key in order if key and chart.share.of(groups[key])[1]]
    return list(order[:MOST_CHARTED])


def title_of(column: Column) -> StrPromise:
    return column.title if isinstance(column, Share) else ALL_MEASURES[column].title


def headings() -> dict[str, tuple[str, str]]:
    """Return the heading of the first column and the table's title, by dimension."""
    return {
        "type_id": (gettext("Type"), gettext("By type")),
        "carrier_name": (gettext("Carrier"), gettext("By carrier")),
        "user_id": (gettext("Agent"), gettext("By agent")),
    }
