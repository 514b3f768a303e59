"""The figures as tables: what the dashboard shows, charts, prints and exports is all the same."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from desk.reports import charts, figures
from desk.reports.fairness import Report
from desk.reports.figures import AGES, Scope, Times, Triple
from desk.reports.groups import NOTHING, GroupCounts, combined, merge_spellings
from tickets.models import Agent, TicketType

# Carriers and agents that a chart has room for.
MOST_CHARTED = 12


class Table(NamedTuple):
    slug: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    chart: charts.Chart | None = None


GROUP_COLUMNS = (
    "Opened",
    "Decided",
    "Accepted",
    "Late",
    "Open",
    "Overdue",
    "Claim deadline near",
)


class Dashboard(NamedTuple):
    """What a lead sees at once, and the tables below."""

    tiles: list[tuple[str, str]]
    tables: list[Table]
    carriers: list[str]
    counted_at: datetime


def dashboard(scope: Scope, now: datetime | None = None) -> Dashboard:
    """In seven queries, however many tickets there are."""
    now = now or timezone.now()
    opened, decided = figures.opened_tickets(scope, now), figures.decided_tickets(scope, now)
    backlog = figures.backlog(scope, now)
    answers, decisions = figures.answer_times(scope, now), figures.decision_times(scope, now)
    types = {one.pk: str(one) for one in TicketType.objects.all()}
    names = dict(Agent.objects.values_list("pk", "user__username"))
    by_carrier = merge_spellings(
        combined(opened.by_carrier, decided.by_carrier, backlog.by_carrier)
    )
    tables = [
        volume(scope, now, opened.by_day, decided.by_day),
        ages(backlog.by_age),
        waiting_times(types, answers, decisions),
        per_type(types, combined(opened.by_type, decided.by_type, backlog.by_type)),
        per_agent(names, combined(opened.by_agent, decided.by_agent, backlog.by_agent)),
        per_carrier(by_carrier),
    ]
    open_now, overdue, near = total(backlog.by_carrier.values())
    done, accepted, _ = total(decided.by_carrier.values())
    tiles = [
        ("Open now", str(open_now)),
        ("Overdue", str(overdue)),
        ("Claim deadline within 3 days", str(near)),
        ("Unassigned", str(backlog.unassigned)),
        ("Opened", str(opened.by_day.total())),
        ("Decided", str(done)),
        ("Accepted", percent(accepted, done)),
        ("First response, median", duration(answers.get(None, Times()).median)),
        ("Decision, median", duration(decisions.get(None, Times()).median)),
    ]
    return Dashboard(tiles, tables, sorted(filter(None, by_carrier)), now)


def volume(
    scope: Scope, now: datetime, opened: Mapping[date, int], decided: Mapping[date, int]
) -> Table:
    days = [(scope.since(now) + timedelta(days=n)).date() for n in range(scope.days)]
    rows = [(day.isoformat(), opened.get(day, 0), decided.get(day, 0)) for day in days]
    charted = [(day.strftime("%d %b"), row[1:]) for day, row in zip(days, rows, strict=True)]
    chart = charts.columns("Tickets per day", ("opened", "decided"), charted)
    return Table("volume", "Volume", ("Day", "Opened", "Decided"), rows, chart)


def ages(by_age: list[int]) -> Table:
    spans = zip((0, *AGES), AGES, strict=False)
    labels = [*(f"{start} to {end} days" for start, end in spans), f"over {AGES[-1]} days"]
    rows = list(zip(labels, by_age, strict=True))
    charted = [(label.replace(" days", " d"), (number,)) for label, number in rows]
    chart = charts.columns("Open tickets by age", ("open",), charted)
    return Table("backlog", "Backlog by age", ("Age", "Open"), rows, chart)


def waiting_times(
    types: Mapping[int, str],
    answers: Mapping[int | None, Times],
    decisions: Mapping[int | None, Times],
) -> Table:
    groups: list[tuple[int | None, str]] = [(None, "All"), *types.items()]
    rows = []
    for key, name in groups:
        answered, done = answers.get(key, Times()), decisions.get(key, Times())
        if key is None or answered.number or done.number:
            rows.append((name, *times_cells(answered), *times_cells(done)))
    columns = (
        "Type",
        "Answered",
        "Median",
        "90th percentile",
        "Decided",
        "Median",
        "90th percentile",
    )
    return Table("times", "Time to first response and to decision", columns, rows)


def per_type(types: Mapping[int, str], numbers: Mapping[int, GroupCounts]) -> Table:
    columns = ("Type", *GROUP_COLUMNS)
    rows = [(types.get(key, key), *numbers[key]) for key in sorted(numbers)]
    return Table("types", "By type", columns, rows)


def per_agent(names: Mapping[int, str], numbers: Mapping[int, GroupCounts]) -> Table:
    """Those with the most open first. Opened are those of the time that they hold now."""
    order = sorted(
        numbers, key=lambda key: (key is not None, -numbers[key].open, names.get(key, ""))
    )
    rows = [(names.get(key, "nobody"), *numbers[key]) for key in order]
    charted = [
        (names.get(key, "nobody"), (numbers[key].open, numbers[key].overdue))
        for key in order[:MOST_CHARTED]
    ]
    chart = charts.columns("Open tickets by agent", ("open", "overdue"), charted)
    columns = ("Agent", *GROUP_COLUMNS)
    return Table("agents", "By agent", columns, rows, chart)


def per_carrier(numbers: Mapping[str, GroupCounts]) -> Table:
    order = sorted(numbers, key=lambda name: (-numbers[name].opened, name))
    rows, charted = [], []
    for name in order:
        counts = numbers[name]
        rows.append(
            (
                name or "unknown",
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
    chart = charts.columns("Claims accepted", ("accepted",), charted[:MOST_CHARTED], "%")
    columns = (
        "Carrier",
        "Opened",
        "Decided",
        "Accepted",
        "Acceptance",
        "Open",
        "Claim deadline near",
    )
    return Table("carriers", "By carrier", columns, rows, chart)


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
        "Agent",
        "Capacity",
        "Received",
        "Share",
        "Share of capacity",
        "Ratio",
        "Decided",
        "First response, median",
    )
    return Table("fairness", "Tickets received per agent", columns, rows)


def total(numbers: Iterable[Triple]) -> tuple[int, ...]:
    return tuple(map(sum, zip(NOTHING, *numbers, strict=True)))


def times_cells(times: Times) -> tuple[int, str, str]:
    return times.number, duration(times.median), duration(times.p90)


def percent(part: float, of: float = 1) -> str:
    return f"{100 * part / of:.1f} %" if of else ""


def duration(time: timedelta | None) -> str:
    """To the minute, the hour or the day, in two units at most."""
    if time is None:
        return ""
    minutes = round(time.total_seconds() / 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
