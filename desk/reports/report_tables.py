"""A report as tables: each figure with the address of the list of exactly its tickets."""

from collections.abc import Callable, Mapping
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.utils.text import capfirst
from django.utils.translation import gettext

from companies.reading_order import reading_key
from desk.reports import charts
from desk.reports.measures import HAS_MONEY, MEASURES, NOBODY
from desk.reports.report import DIMENSIONS, PeriodReport
from desk.reports.report_cells import (
    FigureTable,
    LinkedFigures,
    amount_cell,
    change_cell,
    recovered,
    share_cell,
    text_cell,
)
from tickets.models import TicketType

MOST_CHARTED = 12
REASONS: str = "tickets.ReasonCode"
COLUMNS = (
    "opened",
    "answered_in_time",
    "answered_late",
    "decided",
    "accepted",
    "declined",
    "resolved_in_time",
    "resolved_late",
    "rated",
    "satisfied",
)


def tables(report: PeriodReport, most: int | None = None) -> list[FigureTable]:
    """With so many rows each at most, and how many more there are."""
    linked = LinkedFigures(report.asked)
    users = dict(User.objects.values_list("pk", "username"))
    types, carriers, deciders = (report.groups[one] for one in DIMENSIONS)
    type_names = {one.pk: str(one) for one in TicketType.objects.all()}
    unknown, nobody = gettext("unknown"), gettext("nobody")
    named = (
        {key: (type_names.get(key, str(key)), {"type": key}) for key in types},
        {name: (name or unknown, {"carrier_name": name or NOBODY}) for name in carriers},
        {key: (users.get(key, nobody), {"agent": users.get(key, NOBODY)}) for key in deciders},
    )
    made = [
        overview(report, linked),
        promises(report, linked),
        group_table("types", gettext("By type"), gettext("Type"), named[0], types, linked, most),
        group_table(
            "carriers", gettext("By carrier"), gettext("Carrier"), named[1], carriers, linked, most
        ),
        group_table(
            "agents", gettext("By agent"), gettext("Agent"), named[2], deciders, linked, most
        ),
    ]
    return [*money_tables(report, most), *reason_tables(report, linked), *made]


def overview(report: PeriodReport, linked: LinkedFigures) -> FigureTable:
    before = LinkedFigures(report.asked._replace(period=report.asked.period.before))
    rows = [
        (
            text_cell(measure.title),
            linked.number(slug, report.now.get(slug, 0)),
            before.number(slug, report.before.get(slug, 0)),
            change_cell(report.now.get(slug, 0), report.before.get(slug, 0)),
        )
        for slug, measure in MEASURES.items()
    ]
    columns = (
        gettext("Figure"),
        gettext("This period"),
        gettext("Period before"),
        gettext("Change"),
    )
    return FigureTable("overview", gettext("This period and the one before"), columns, rows)


PROMISES = (("answered_in_time", "answered_late"), ("resolved_in_time", "resolved_late"))


def promises(report: PeriodReport, linked: LinkedFigures) -> FigureTable:
    rows, charted = [], []
    names = (gettext("First response"), gettext("Resolution"))
    for name, (kept, broken) in zip(names, PROMISES, strict=True):
        good, bad = report.now.get(kept, 0), report.now.get(broken, 0)
        was_good, was_bad = report.before.get(kept, 0), report.before.get(broken, 0)
        rows.append(
            (
                text_cell(name),
                linked.number(kept, good),
                linked.number(broken, bad),
                share_cell(good, good + bad),
                share_cell(was_good, was_good + was_bad),
            )
        )
        charted.append((name, (good, bad)))
    columns = (
        gettext("Promise"),
        gettext("In time"),
        gettext("Late"),
        gettext("Share in time"),
        gettext("Share in time before"),
    )
    series = (gettext("in time"), gettext("late"))
    chart = charts.columns(gettext("Promises kept and broken"), series, charted)
    return FigureTable("promises", gettext("First response and resolution"), columns, rows, chart)


def group_table(
    slug: str,
    title: str,
    heading: str,
    names: Mapping[Any, tuple[str, dict[str, Any]]],
    numbers: Mapping[Any, Mapping[str, int]],
    linked: LinkedFigures,
    most: int | None,
) -> FigureTable:
    """A row for each; those with the most decided come first, and what is nobody's last."""
    order = sorted(
        names,
        key=lambda key: (
            key in (None, ""),
            -numbers[key].get("decided", 0),
            reading_key(names[key][0]),
        ),
    )
    rows = []
    for key in order[:most]:
        name, narrowed = names[key]
        counts = {one: numbers[key].get(one, 0) for one in COLUMNS}
        answered = counts["answered_in_time"] + counts["answered_late"]
        resolved = counts["resolved_in_time"] + counts["resolved_late"]
        rows.append(
            (
                text_cell(name),
                share_cell(counts["answered_in_time"], answered),
                share_cell(counts["resolved_in_time"], resolved),
                share_cell(counts["accepted"], counts["decided"]),
                share_cell(counts["satisfied"], counts["rated"]),
                *(linked.number(one, counts[one], **narrowed) for one in COLUMNS),
            )
        )
    columns = (
        heading,
        gettext("First responses in time"),
        gettext("Resolutions in time"),
        gettext("Share accepted"),
        gettext("Share satisfied"),
        *(str(MEASURES[one].title) for one in COLUMNS),
    )
    shown: Callable[[Any], tuple[int, int]] = lambda key: (  # noqa: E731
        numbers[key].get("accepted", 0),
        numbers[key].get("declined", 0),
    )
    charted = [(names[key][0], shown(key)) for key in order[:MOST_CHARTED]]
    series = (gettext("accepted"), gettext("declined"))
    chart = charts.columns(gettext("Accepted and declined"), series, charted)
    return FigureTable(slug, title, columns, rows, chart, more=len(order) - len(rows))


def money_tables(report: PeriodReport, most: int | None) -> list[FigureTable]:
    """None until tickets have amounts."""
    if not HAS_MONEY:
        return []
    before = {one.currency: one for one in report.money_before}
    rows = []
    for one in report.money[:most]:
        was = before.get(one.currency) if one.carrier is None else None
        rows.append(
            (
                text_cell(one.currency),
                text_cell(gettext("all") if one.carrier is None else one.carrier),
                text_cell(one.tickets),
                *(amount_cell(value, one.currency) for value in one.sums),
                recovered(one),
                amount_cell(was.paid, one.currency) if was else text_cell(""),
                change_cell(one.paid, was.paid) if was else text_cell(""),
            )
        )
    columns = (
        gettext("Currency"),
        gettext("Carrier"),
        gettext("Tickets"),
        gettext("Claimed"),
        gettext("Offered"),
        gettext("Paid"),
        gettext("Share recovered"),
        gettext("Paid before"),
        gettext("Change"),
    )
    more = len(report.money) - len(rows)
    return [FigureTable("money", gettext("Money recovered"), columns, rows, more=more)]


def reason_tables(report: PeriodReport, linked: LinkedFigures) -> list[FigureTable]:
    """None until decisions have reason codes."""
    if not HAS_MONEY:
        return []
    names = reason_names()
    rows = [
        (
            text_cell(names.get(code, code) or gettext("none")),
            linked.number("declined", now, reason=code) if code else text_cell(now),
            text_cell(before),
            share_cell(now, report.now.get("declined", 0)),
        )
        for code, (now, before) in report.reasons.items()
    ]
    charted = [
        (names.get(code, code) or gettext("none"), (now,))
        for code, (now, _) in list(report.reasons.items())[:MOST_CHARTED]
    ]
    columns = (
        gettext("Reason"),
        gettext("Declined"),
        gettext("Period before"),
        gettext("Share of declined"),
    )
    chart = charts.columns(gettext("Reasons of declining"), (gettext("declined"),), charted)
    return [FigureTable("reasons", gettext("Reasons of declining"), columns, rows, chart)]


def reason_names() -> dict[str, str]:
    model = apps.get_model(REASONS)
    return {one.code: capfirst(str(one)) for one in model.objects.all()}
