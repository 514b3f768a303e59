"""A report as tables, in which each figure links to the list of exactly its tickets."""

from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, pgettext

from desk.reports import charts
from desk.reports.cells import (
    LinkedNumbers,
    amount_cell,
    change_cell,
    recovered,
    share_cell,
    text_cell,
)
from desk.reports.measures import MEASURES
from desk.reports.report import PeriodReport
from desk.reports.tables import ACCEPTED, MOST_CHARTED, Charted, Drawing, Grouped, Share, Table
from tickets.models import ReasonCode

IN_TIME = ("answered_in_time", "answered_late"), ("resolved_in_time", "resolved_late")
SHARES = (
    Share(gettext_lazy("First responses in time"), IN_TIME[0][0], IN_TIME[0]),
    Share(gettext_lazy("Resolutions in time"), IN_TIME[1][0], IN_TIME[1]),
    ACCEPTED,
    Share(gettext_lazy("Share satisfied"), "satisfied", ("rated",)),
)
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


def tables(report: PeriodReport, most: int | None = None) -> list[Table]:
    """Build the tables, with `most` rows each at most and the number of further ones."""
    linked = LinkedNumbers(report.scope)
    drawing = Drawing(report.groups, report.names, linked, most)
    series = {"accepted": gettext("accepted"), "declined": gettext("declined")}
    chart = Charted(gettext("Accepted and declined"), series)
    groups = (("types", "type_id"), ("carriers", "carrier_name"), ("agents", "user_id"))
    return [
        money_table(report, most),
        reason_table(report, linked),
        overview(report, linked),
        promises(report, linked),
        *(
            drawing.table(Grouped(slug, dimension, (*SHARES, *COLUMNS), "decided", 1, chart))
            for slug, dimension in groups
        ),
    ]


def overview(report: PeriodReport, linked: LinkedNumbers) -> Table:
    before = LinkedNumbers(report.scope._replace(period=report.scope.period.before))
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
    return Table("overview", gettext("This period and the one before"), columns, rows)


def promises(report: PeriodReport, linked: LinkedNumbers) -> Table:
    rows, charted = [], []
    names = (gettext("First response"), gettext("Resolution"))
    for name, (in_time, late) in zip(names, IN_TIME, strict=True):
        good, bad = report.now.get(in_time, 0), report.now.get(late, 0)
        was_good, was_bad = report.before.get(in_time, 0), report.before.get(late, 0)
        rows.append(
            (
                text_cell(name),
                linked.number(in_time, good),
                linked.number(late, bad),
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
    return Table("promises", gettext("First response and resolution"), columns, rows, chart)


def money_table(report: PeriodReport, most: int | None) -> Table:
    totals_before = {total.currency: total for total in report.money_before}
    rows = []
    for one in report.money[:most]:
        before = totals_before.get(one.currency) if one.carrier is None else None
        rows.append(
            (
                text_cell(one.currency),
                text_cell(pgettext("carriers", "all") if one.carrier is None else one.carrier),
                text_cell(one.tickets),
                *(amount_cell(value, one.currency) for value in one.sums),
                recovered(one),
                amount_cell(before.paid, one.currency) if before else text_cell(""),
                change_cell(one.paid, before.paid) if before else text_cell(""),
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
    return Table("money", gettext("Money recovered"), columns, rows, more=more)


def reason_table(report: PeriodReport, linked: LinkedNumbers) -> Table:
    names = {one.code: capfirst(str(one)) for one in ReasonCode.objects.all()}
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
    return Table("reasons", gettext("Reasons of declining"), columns, rows, chart)
