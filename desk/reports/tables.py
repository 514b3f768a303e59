"""The figures as tables: what the dashboard shows, charts, prints and exports is all the same."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from desk.reports import charts, figures
from desk.reports.fairness import Report
from desk.reports.figures import AGES, Scope, Times
from tickets.models import Agent, TicketType

NOTHING = (0, 0, 0)
# Carriers and agents that a chart has room for.
MOST_CHARTED = 12


class Table(NamedTuple):
    slug: str
    title: str
    columns: Sequence[str]
    rows: list[Sequence[Any]]
    chart: charts.Chart | None = None


class Dashboard(NamedTuple):
    """What a lead sees at once, and the tables below."""

    tiles: list[tuple[str, str]]
    tables: list[Table]
    carriers: list[str]
    counted_at: datetime


def dashboard(scope: Scope, now: datetime | None = None) -> Dashboard:
    """In seven queries, however many tickets there are."""
    now = now or timezone.now()
    opened, decided = figures.opened(scope, now), figures.decided(scope, now)
    backlog = figures.backlog(scope, now)
    answers, decisions = figures.answer_times(scope, now), figures.decision_times(scope, now)
    types = {one.pk: str(one) for one in TicketType.objects.all()}
    names = dict(Agent.objects.values_list("pk", "user__username"))
    by_carrier = sides(opened.by_carrier, decided.by_carrier, backlog.by_carrier)
    tables = [
        volume(scope, now, opened.by_day, decided.by_day),
        ages(backlog.by_age),
        spent_times(types, answers, decisions),
        per_type(types, sides(opened.by_type, decided.by_type, backlog.by_type)),
        per_agent(names, sides(opened.by_agent, decided.by_agent, backlog.by_agent)),
        per_carrier(by_carrier),
    ]
    open_now, overdue, near = total(backlog.by_carrier.values())
    done, accepted, _ = total(decided.by_carrier.values())
    tiles = [
        ("Open now", str(open_now)),
        ("Overdue", str(overdue)),
        ("Filing within 3 days", str(near)),
        ("Unassigned", str(backlog.unassigned)),
        ("Opened", str(opened.by_day.total())),
        ("Decided", str(done)),
        ("Accepted", percent(accepted, done)),
        ("First response, median", spent(answers.get(None, Times()).median)),
        ("Decision, median", spent(decisions.get(None, Times()).median)),
    ]
    return Dashboard(tiles, tables, sorted(filter(None, by_carrier)), now)


def sides(opened: dict, decided: dict, open_now: dict) -> dict[Any, tuple[int, ...]]:
    """opened, decided, accepted, late, open, overdue and filing near, of each."""
    keys = {**opened, **decided, **open_now}
    return {
        key: (opened.get(key, 0), *decided.get(key, NOTHING), *open_now.get(key, NOTHING))
        for key in keys
    }


def volume(scope: Scope, now: datetime, opened: dict, decided: dict) -> Table:
    days = [(scope.since(now) + timedelta(days=n)).date() for n in range(scope.days)]
    rows = [(day.isoformat(), opened.get(day, 0), decided.get(day, 0)) for day in days]
    charted = [(day.strftime("%d %b"), row[1:]) for day, row in zip(days, rows, strict=True)]
    chart = charts.columns("Tickets a day", ("opened", "decided"), charted)
    return Table("volume", "Volume", ("Day", "Opened", "Decided"), rows, chart)


def ages(by_age: list[int]) -> Table:
    spans = zip((0, *AGES), AGES, strict=False)
    labels = [*(f"{start} to {end} days" for start, end in spans), f"over {AGES[-1]} days"]
    rows = list(zip(labels, by_age, strict=True))
    charted = [(label.replace(" days", " d"), (number,)) for label, number in rows]
    chart = charts.columns("Open tickets by age", ("open",), charted)
    return Table("backlog", "Backlog by age", ("Age", "Open"), rows, chart)


def spent_times(types: dict, answers: dict, decisions: dict) -> Table:
    rows = []
    for key, name in {None: "All", **types}.items():
        answered, done = answers.get(key, Times()), decisions.get(key, Times())
        if key is None or answered.number or done.number:
            rows.append((name, *told(answered), *told(done)))
    columns = ("Type", "Answered", "Median", "9 of 10 within")
    columns += ("Decided", "Median", "9 of 10 within")
    return Table("times", "Time to first response and to decision", columns, rows)


def per_type(types: dict, numbers: dict) -> Table:
    columns = ("Type", "Opened", "Decided", "Accepted", "Late", "Open", "Overdue", "Filing near")
    rows = [(types.get(key, key), *numbers[key]) for key in sorted(numbers)]
    return Table("types", "Per type", columns, rows)


def per_agent(names: dict, numbers: dict) -> Table:
    """Those with the most open first. Opened are those of the time that they hold now."""
    order = sorted(numbers, key=lambda key: (key is not None, -numbers[key][4], names.get(key, "")))
    rows = [(names.get(key, "nobody"), *numbers[key]) for key in order]
    charted = [(str(row[0]), (row[5], row[6])) for row in rows[:MOST_CHARTED]]
    chart = charts.columns("Open tickets of agents", ("open", "overdue"), charted)
    columns = ("Agent", "Opened", "Decided", "Accepted", "Late", "Open", "Overdue", "Filing near")
    return Table("agents", "Per agent", columns, rows, chart)


def per_carrier(numbers: dict[str, tuple[int, ...]]) -> Table:
    order = sorted(numbers, key=lambda name: (-numbers[name][0], name))
    rows, charted = [], []
    for name in order:
        opened, decided, accepted, _, open_now, _, near = numbers[name]
        rate = percent(accepted, decided)
        rows.append((name or "unknown", opened, decided, accepted, rate, open_now, near))
        if name and decided:
            charted.append((name, (round(100 * accepted / decided),)))
    chart = charts.columns("Claims accepted", ("accepted",), charted[:MOST_CHARTED], "%")
    columns = ("Carrier", "Opened", "Decided", "Accepted", "Acceptance", "Open", "Filing near")
    return Table("carriers", "Per carrier", columns, rows, chart)


def fairness(report: Report) -> Table:
    rows = [
        (
            *(one.agent, one.capacity, one.received, percent(one.share), percent(one.fair_share)),
            *("" if one.ratio is None else round(one.ratio, 2), one.decided),
            spent(one.first_response),
        )
        for one in report.shares
    ]
    columns = ("Agent", "Capacity", "Received", "Share", "Share of capacity", "Ratio", "Decided")
    columns += ("First response, median",)
    return Table("fairness", "Who was given how much", columns, rows)


def total(numbers: Iterable[tuple[int, int, int]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(NOTHING, *numbers, strict=True)))


def told(times: Times) -> tuple[Any, ...]:
    return times.number, spent(times.median), spent(times.p90)


def percent(part: float, of: float = 1) -> str:
    return f"{100 * part / of:.1f} %" if of else ""


def spent(time: timedelta | None) -> str:
    """To the minute, the hour or the day, in two units at most."""
    if time is None:
        return ""
    minutes = round(time.total_seconds() / 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
