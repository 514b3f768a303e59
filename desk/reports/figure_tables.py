"""The figures of a lead's start page, in the reader's language: tiles and tables."""

from datetime import timedelta
from typing import NamedTuple

from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext

from desk.reports import charts
from desk.reports.cells import (
    Cell,
    PlainNumbers,
    duration,
    number_cell,
    share_cell,
    text_cell,
    times_cells,
)
from desk.reports.counting import AGES, Times
from desk.reports.fairness import Fairness
from desk.reports.figures import SLUGS, Figures
from desk.reports.tables import ACCEPTED, Charted, Drawing, Grouped, Table
from tickets.labels import type_label

CARRIER_COLUMNS = ("opened", "decided", "accepted", ACCEPTED, "open", "filing_near")


class Tile(NamedTuple):
    name: str
    value: str


def tiles(figures: Figures) -> list[Tile]:
    total, middle = figures.total, Times()
    unassigned = figures.groups["user_id"].get(None, {}).get("open", 0)
    numbers = [
        (gettext("Open now"), total["open"]),
        (pgettext("tickets", "Overdue"), total["overdue"]),
        (gettext("Claim deadline within 3 days"), total["filing_near"]),
        (gettext("Unassigned"), unassigned),
        (pgettext("tickets", "Opened"), total["opened"]),
        (pgettext("tickets", "Decided"), total["decided"]),
    ]
    times = [
        (gettext("First response, median"), figures.responses.get(None, middle)),
        (gettext("Resolution, median"), figures.decisions.get(None, middle)),
    ]
    return [
        *(Tile(name, number_cell(number).text) for name, number in numbers),
        Tile(pgettext("tickets", "Accepted"), ACCEPTED.cell(total).text),
        *(Tile(name, duration(one.median)) for name, one in times),
    ]


def tables(figures: Figures, most: int | None = None) -> list[Table]:
    """Build the tables, with `most` rows each at most and the number of further ones."""
    drawing = Drawing(figures.groups, figures.names, PlainNumbers(), most)
    open_ones = {
        "open": pgettext("tickets", "open"),
        "overdue": pgettext("tickets", "overdue"),
    }
    accepted = Charted(gettext("Claims accepted"), {"accepted": gettext("accepted")}, ACCEPTED)
    agents = Charted(gettext("Open tickets by agent"), open_ones)
    return [
        volume(figures),
        ages(figures),
        waiting_times(figures),
        drawing.table(Grouped("types", "type_id", SLUGS, "opened")),
        # Decisions count for the user who decided, everything else for the ticket's agent.
        drawing.table(Grouped("agents", "user_id", SLUGS, "open", -1, agents)),
        drawing.table(Grouped("carriers", "carrier_name", CARRIER_COLUMNS, "opened", 0, accepted)),
    ]


def volume(figures: Figures) -> Table:
    period, by_day = figures.scope.period, figures.groups["day"]
    days = [period.first + timedelta(days=number) for number in range(period.days)]
    slugs = ("opened", "decided")
    numbers = [[by_day.get(day, {}).get(slug, 0) for slug in slugs] for day in days]
    rows = [
        [Cell(date_format(day), day.isoformat()), *map(number_cell, row)]
        for day, row in zip(days, numbers, strict=True)
    ]
    marks = (date_format(day, "MONTH_DAY_FORMAT") for day in days)
    names = (gettext("opened"), gettext("decided"))
    charted = list(zip(marks, numbers, strict=True))
    chart = charts.columns(gettext("Tickets per day"), names, charted)
    columns = (gettext("Day"), pgettext("tickets", "Opened"), pgettext("tickets", "Decided"))
    return Table("volume", gettext("Volume"), columns, rows, chart)


def ages(figures: Figures) -> Table:
    spans = list(zip((0, *AGES), AGES, strict=False))
    days, over = gettext("%(start)d to %(end)d days"), gettext("over %(days)d days")
    labels = [days % {"start": start, "end": end} for start, end in spans]
    short = [*(f"{start}-{end} d" for start, end in spans), f"> {AGES[-1]} d"]
    # The key counts the bounds that a ticket is younger than: 0 for the oldest ones.
    reached = range(len(AGES), -1, -1)
    numbers = [figures.groups["age"].get(age, {}).get("open", 0) for age in reached]
    rows = [
        [text_cell(label), number_cell(number)]
        for label, number in zip([*labels, over % {"days": AGES[-1]}], numbers, strict=True)
    ]
    charted = [(label, (number,)) for label, number in zip(short, numbers, strict=True)]
    series = (pgettext("tickets", "open"),)
    chart = charts.columns(gettext("Open tickets by age"), series, charted)
    columns = (gettext("Age"), pgettext("tickets", "Open"))
    return Table("backlog", gettext("Backlog by age"), columns, rows, chart)


def waiting_times(figures: Figures) -> Table:
    types = [(key, type_label(name)) for key, name in figures.names.types.items()]
    rows = []
    for key, name in [(None, gettext("All")), *types]:
        response = figures.responses.get(key, Times())
        decision = figures.decisions.get(key, Times())
        if key is None or response.number or decision.number:
            rows.append([text_cell(name), *times_cells(response), *times_cells(decision)])
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


def fairness_table(fairness: Fairness) -> Table:
    rows = [
        [
            text_cell(one.agent),
            number_cell(one.capacity),
            number_cell(one.received),
            share_cell(one.received, fairness.received),
            share_cell(one.capacity, fairness.capacity),
            text_cell("" if one.ratio is None else round(one.ratio, 2)),
            number_cell(one.decided),
            text_cell(duration(one.first_response)),
        ]
        for one in fairness.shares
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
    return Table("fairness", gettext("Tickets received per agent"), columns, rows)
