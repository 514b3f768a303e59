"""The figures as tables: what the dashboard shows, charts, prints and exports is all the same."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext, gettext_lazy, pgettext, pgettext_lazy

from companies.reading_order import reading_key
from desk.reports import charts
from desk.reports.counting import CountedFigures
from desk.reports.fairness import Report
from desk.reports.figures import AGES, Scope, Times, Triple
from desk.reports.groups import NOTHING, GroupCounts, combined, merge_spellings
from tickets.labels import type_label

# Carriers and agents that a chart has room for.
MOST_CHARTED = 12
# Of a table on a page; its file has all.
MOST_ROWS = 50


class Table(NamedTuple):
    slug: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    chart: charts.Chart | None = None
    most: int = MOST_ROWS

    @property
    def shown(self) -> Sequence[Sequence[object]]:
        return self.rows[: self.most]

    @property
    def more(self) -> int:
        return max(0, len(self.rows) - self.most)


GROUP_COLUMNS = (
    pgettext_lazy("tickets", "Opened"),
    pgettext_lazy("tickets", "Decided"),
    pgettext_lazy("tickets", "Accepted"),
    pgettext_lazy("tickets", "Late"),
    pgettext_lazy("tickets", "Open"),
    pgettext_lazy("tickets", "Overdue"),
    gettext_lazy("Claim deadline near"),
)


def group_columns(first: str) -> list[str]:
    """The headings of a table by group, in the reader's language."""
    return [first, *map(str, GROUP_COLUMNS)]


class Dashboard(NamedTuple):
    """What a lead sees at once, and the tables below."""

    tiles: list[tuple[str, str]]
    tables: list[Table]
    carriers: list[str]
    counted_at: datetime


def dashboard(counted: CountedFigures) -> Dashboard:
    """What was counted, in the reader's language."""
    opened, decided, backlog = counted.opened, counted.decided, counted.backlog
    types = {pk: type_label(name) for pk, name in counted.types.items()}
    by_carrier = merge_spellings(
        combined(opened.by_carrier, decided.by_carrier, backlog.by_carrier)
    )
    tables = [
        volume(counted.scope, counted.at, opened.by_day, decided.by_day),
        ages(backlog.by_age),
        waiting_times(types, counted.responses, counted.decisions),
        per_type(types, combined(opened.by_type, decided.by_type, backlog.by_type)),
        per_agent(counted.by_agent),
        per_carrier(by_carrier),
    ]
    open_now, overdue, near = total(backlog.by_carrier.values())
    done, accepted, _ = total(decided.by_carrier.values())
    tiles = [
        (gettext("Open now"), str(open_now)),
        (pgettext("tickets", "Overdue"), str(overdue)),
        (gettext("Claim deadline within 3 days"), str(near)),
        (gettext("Unassigned"), str(backlog.unassigned)),
        (pgettext("tickets", "Opened"), str(opened.by_day.total())),
        (pgettext("tickets", "Decided"), str(done)),
        (pgettext("tickets", "Accepted"), percent(accepted, done)),
        (
            gettext("First response, median"),
            duration(counted.responses.get(None, Times()).median),
        ),
        (gettext("Resolution, median"), duration(counted.decisions.get(None, Times()).median)),
    ]
    return Dashboard(tiles, tables, sorted(filter(None, by_carrier), key=reading_key), counted.at)


def volume(
    scope: Scope, now: datetime, opened: Mapping[date, int], decided: Mapping[date, int]
) -> Table:
    days = [(scope.since(now) + timedelta(days=n)).date() for n in range(scope.days)]
    rows = [(day.isoformat(), opened.get(day, 0), decided.get(day, 0)) for day in days]
    marks = (date_format(day, "MONTH_DAY_FORMAT") for day in days)
    charted = list(zip(marks, (row[1:] for row in rows), strict=True))
    names = (gettext("opened"), gettext("decided"))
    chart = charts.columns(gettext("Tickets per day"), names, charted)
    columns = (gettext("Day"), pgettext("tickets", "Opened"), pgettext("tickets", "Decided"))
    return Table("volume", gettext("Volume"), columns, rows, chart)


def ages(by_age: list[int]) -> Table:
    spans = list(zip((0, *AGES), AGES, strict=False))
    days, over = gettext("%(start)d to %(end)d days"), gettext("over %(days)d days")
    labels = [days % {"start": start, "end": end} for start, end in spans]
    rows = list(zip([*labels, over % {"days": AGES[-1]}], by_age, strict=True))
    short = [*(f"{start}-{end} d" for start, end in spans), f"> {AGES[-1]} d"]
    charted = [(label, (number,)) for label, (_, number) in zip(short, rows, strict=True)]
    series = (pgettext("tickets", "open"),)
    chart = charts.columns(gettext("Open tickets by age"), series, charted)
    columns = (gettext("Age"), pgettext("tickets", "Open"))
    return Table("backlog", gettext("Backlog by age"), columns, rows, chart)


def waiting_times(
    types: Mapping[int, str],
    answers: Mapping[int | None, Times],
    decisions: Mapping[int | None, Times],
) -> Table:
    groups: list[tuple[int | None, str]] = [(None, gettext("All")), *types.items()]
    rows = []
    for key, name in groups:
        answered, done = answers.get(key, Times()), decisions.get(key, Times())
        if key is None or answered.number or done.number:
            rows.append((name, *times_cells(answered), *times_cells(done)))
    columns = (
        gettext("Type"),
        gettext("Answered"),
        gettext("Median"),
        gettext("90th percentile"),
        pgettext("tickets", "Decided"),
        gettext("Median"),
        gettext("90th percentile"),
    )
    return Table("times", gettext("Time to first response and to resolution"), columns, rows)


def per_type(types: Mapping[int, str], numbers: Mapping[int, GroupCounts]) -> Table:
    rows = [(types.get(key, key), *numbers[key]) for key in sorted(numbers)]
    return Table("types", gettext("By type"), group_columns(gettext("Type")), rows)


def per_agent(numbers: Mapping[str, GroupCounts]) -> Table:
    """Return a row for each agent, most open tickets first.

    Decisions count for who decided, everything else for who holds the ticket.
    """
    order = sorted(numbers, key=lambda name: (name != "", -numbers[name].open, reading_key(name)))
    named = [(name or gettext("nobody"), numbers[name]) for name in order]
    rows = [(name, *counts) for name, counts in named]
    charted = [(name, (counts.open, counts.overdue)) for name, counts in named[:MOST_CHARTED]]
    series = (pgettext("tickets", "open"), pgettext("tickets", "overdue"))
    chart = charts.columns(gettext("Open tickets by agent"), series, charted)
    columns = group_columns(gettext("Agent"))
    return Table("agents", gettext("By agent"), columns, rows, chart)


def per_carrier(numbers: Mapping[str, GroupCounts]) -> Table:
    order = sorted(numbers, key=lambda name: (-numbers[name].opened, reading_key(name)))
    rows, charted = [], []
    for name in order:
        counts = numbers[name]
        rows.append(
            (
                name or gettext("unknown"),
                counts.opened,
                counts.decided,
                counts.accepted,
                percent(counts.accepted, counts.decided),
                counts.open,
                counts.filing_near,
            )
        )
        if name and counts.decided:
            charted.append((name, (round(100 * counts.accepted / counts.decided),)))
    series = (gettext("accepted"),)
    chart = charts.columns(gettext("Claims accepted"), series, charted[:MOST_CHARTED], "%")
    columns = (
        gettext("Carrier"),
        pgettext("tickets", "Opened"),
        pgettext("tickets", "Decided"),
        pgettext("tickets", "Accepted"),
        gettext("Acceptance"),
        pgettext("tickets", "Open"),
        gettext("Claim deadline near"),
    )
    return Table("carriers", gettext("By carrier"), columns, rows, chart)


def fairness_table(report: Report) -> Table:
    rows = [
        (
            one.agent,
            one.capacity,
            one.received,
            percent(one.share),
            percent(one.fair_share),
            "" if one.ratio is None else round(one.ratio, 2),
            one.decided,
            duration(one.first_response),
        )
        for one in report.shares
    ]
    columns = (
        gettext("Agent"),
        gettext("Capacity"),
        gettext("Received"),
        gettext("Share"),
        gettext("Share of capacity"),
        gettext("Ratio"),
        pgettext("tickets", "Decided"),
        gettext("First response, median"),
    )
    title = gettext("Tickets received per agent")
    return Table("fairness", title, columns, rows, most=len(rows))


def total(numbers: Iterable[Triple]) -> tuple[int, ...]:
    return tuple(map(sum, zip(NOTHING, *numbers, strict=True)))


def times_cells(times: Times) -> tuple[int, str, str]:
    return times.number, duration(times.median), duration(times.p90)


def percent(part: float, of: float = 1) -> str:
    return f"{number_format(100 * part / of, decimal_pos=1)} %" if of else ""


def duration(time: timedelta | None) -> str:
    """To the minute, the hour or the day, in two units at most."""
    if time is None:
        return ""
    minutes = round(time.total_seconds() / 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
