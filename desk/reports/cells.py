"""Cells of tables: texts, numbers and times, with links to the tickets behind a number."""

from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.formats import number_format

from core.values.currencies import exact_amount
from core.values.money import money_number
from desk.reports.counting import Scope, Times
from desk.reports.measures import OF_DECIDED, name_in_address
from desk.reports.report import Money


class Cell(NamedTuple):
    """A displayed text, its raw value for an exported file, and the list of its tickets."""

    text: str
    value: object
    link: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def is_text(self) -> bool:
        """True for a text, which may come from outside and is escaped as foreign."""
        return isinstance(self.value, str)


def number_cell(number: int, link: str = "") -> Cell:
    return Cell(number_format(number, use_l10n=True, force_grouping=True), number, link)


class PlainNumbers:
    """Builder of cells for numbers without links."""

    def number(self, slug: str, number: int, **filters: Any) -> Cell:
        return number_cell(number)


class LinkedNumbers(PlainNumbers):
    """Builder of cells of a report; the linked lists have the report's filters."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.list = reverse("admin:tickets_ticket_changelist")
        filters = {
            "type": scope.type_id,
            "carrier_name": scope.carrier,
            "company": scope.company_id,
        }
        self.filters = {name: value for name, value in filters.items() if value}

    def number(self, slug: str, number: int, reason: str = "", **filters: Any) -> Cell:
        figure = name_in_address(slug, self.scope.period, reason)
        if slug in OF_DECIDED and "agent" in filters:
            filters["decided_by"] = filters.pop("agent")
        query = {"queue": "everything", "figure": figure, **self.filters, **filters}
        return number_cell(number, f"{self.list}?{urlencode(query)}" if number else "")


def text_cell(value: object) -> Cell:
    return Cell(str(value), value)


def share_cell(part: int, whole: int) -> Cell:
    if not whole:
        return Cell("", "")
    return Cell(f"{number_format(round(100 * part / whole, 1), 1)} %", round(100 * part / whole, 1))


def change_cell(now: int | Decimal, before: int | Decimal) -> Cell:
    """Return the growth in percent; empty if the previous value is zero."""
    if not before:
        return Cell("", "")
    growth = 100 * (now - before) / before
    return Cell(
        f"{'+' if growth > 0 else ''}{number_format(round(growth), 0)} %", round(float(growth), 1)
    )


def amount_cell(value: Decimal, currency: str) -> Cell:
    return Cell(money_number(value, currency), exact_amount(value, currency))


def recovered(money: Money) -> Cell:
    if not money.claimed:
        return Cell("", "")
    part = 100 * money.paid / money.claimed
    return Cell(f"{number_format(round(part, 1), 1)} %", round(float(part), 1))


def times_cells(times: Times) -> list[Cell]:
    spans = (times.median, times.p90)
    return [number_cell(times.number), *(text_cell(duration(one)) for one in spans)]


def duration(time: timedelta | None) -> str:
    """Format a time in its two largest units: days and hours, or hours and minutes."""
    if time is None:
        return ""
    minutes = round(time.total_seconds() / 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
