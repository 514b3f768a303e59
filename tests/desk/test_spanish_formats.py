"""Formats that docs/spanish.md promises, each rendered by the function that the places call."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.text import capfirst

from core.values.currencies import exact_amount
from core.values.money import money_text
from core.values.zones import in_zone, moment_text
from desk.claim_file.contents import day_text
from desk.common.csv_files import csv_cell
from desk.common.times import as_clock_time, local_text, weekday_text, zone_text
from desk.reports.cells import number_cell, share_cell
from desk.templatetags.desk import ago
from tools.dev import glossary

HEADER = "| What | Where | Example |"
TAGS = re.compile(r"<[^>]*>")
MEXICO = ZoneInfo("America/Mexico_City")
AT = datetime(2026, 11, 27, 2, 12, 5, tzinfo=UTC)
DAY = AT.astimezone(MEXICO).date()
RENDERED: dict[str, Callable[[], object]] = {
    "amount of money in pesos": lambda: money_text(Decimal("4850.5"), "MXN"),
    "amount in dollars": lambda: money_text(Decimal(120), "USD"),
    "amount in another currency": lambda: money_text(Decimal(5800), "JPY"),
    "amount in a CSV file": lambda: csv_cell(exact_amount(Decimal("4850.5"), "MXN")),
    "number": lambda: number_cell(10_000),
    "percentage": lambda: share_cell(384, 1000),
    "size of a file": lambda: filesizeformat(590_540),
    "day": lambda: date_format(DAY),
    "day of a chart": lambda: date_format(DAY, "MONTH_DAY_FORMAT"),
    "day in a sentence": lambda: weekday_text(DAY),
    "date and time": lambda: local_text(AT),
    "time to the second": lambda: as_clock_time(AT),
    "moment in an email": lambda: moment_text(AT, MEXICO),
    "moment in a PDF file": lambda: day_text(AT),
    "time in a CSV file": lambda: csv_cell(AT),
    "heading of times": lambda: in_zone(translation.gettext("due")),
    "zone of a page": lambda: capfirst(zone_text(AT)),
    "how long ago": lambda: ago(AT - timedelta(hours=3)),
}


@pytest.fixture(autouse=True)
def mexico(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    with translation.override("es"), timezone.override(MEXICO):
        yield


def test_each_format_is_as_the_page_shows_it() -> None:
    text = glossary.GLOSSARIES["es"].read_text()
    promised = {what: example.strip("`") for what, _, example in glossary.table(text, HEADER)}

    rendered = {what: TAGS.sub("", str(render())) for what, render in RENDERED.items()}

    assert {what: said.replace("\xa0", " ") for what, said in rendered.items()} == promised
