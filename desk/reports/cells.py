"""What stands in tables: words, numbers, times, and where the tickets behind a number are."""

from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.formats import number_format

from core.values.currencies import exact_amount
from core.values.money import money_number
from desk.reports.counting import Narrowed, Times
from desk.reports.measures import OF_DECIDED, name_in_address
from desk.reports.report import Money


class Cell(NamedTuple):
    """What is read, what a file says in its place, and where the tickets behind it are."""

    text: str
    value: object
    link: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def says_words(self) -> bool:
        """Not a number: it may be text from outside."""
        return isinstance(self.value, str)


def number_cell(number: int, link: str = "") -> Cell:
    return Cell(number_format(number, use_l10n=True, force_grouping=True), number, link)


class PlainNumbers:
    """Makes cells of numbers that lead nowhere."""

    def number(self, slug: str, number: int, **narrowed: Any) -> Cell:
        return number_cell(number)


class LinkedNumbers(PlainNumbers):
    """Makes cells of a report; the lists that they lead to are narrowed as the report is."""

    def __init__(self, asked: Narrowed) -> None:
        self.asked = asked
        self.list = reverse("admin:tickets_ticket_changelist")
        given = {
            "type": asked.type_id,
            "carrier_name": asked.carrier,
            "company": asked.company_id,
        }
        self.narrowed = {name: value for name, value in given.items() if value}

    def number(self, slug: str, number: int, reason: str = "", **narrowed: Any) -> Cell:
        figure = name_in_address(slug, self.asked.period, reason)
        if slug in OF_DECIDED and "agent" in narrowed:
            narrowed["decided_by"] = narrowed.pop("agent")
        query = {"queue": "everything", "figure": figure, **self.narrowed, **narrowed}
        return number_cell(number, f"{self.list}?{urlencode(query)}" if number else "")


def text_cell(value: object) -> Cell:
    return Cell(str(value), value)


def share_cell(part: int, whole: int) -> Cell:
    if not whole:
        return Cell("", "")
    return Cell(f"{number_format(round(100 * part / whole, 1), 1)} %", round(100 * part / whole, 1))


def change_cell(now: int | Decimal, before: int | Decimal) -> Cell:
    """By how much it grew; nothing where there was nothing before."""
    if not before:
        return Cell("", "")
    grown = 100 * (now - before) / before
    return Cell(
        f"{'+' if grown > 0 else ''}{number_format(round(grown), 0)} %", round(float(grown), 1)
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
    """To the minute, the hour or the day, in two units at most."""
    if time is None:
        return ""
    minutes = round(time.total_seconds() / 60)
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
