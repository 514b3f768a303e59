"""Read moments back from the texts that people see, to compare them."""

import re
from datetime import date, datetime
from zoneinfo import ZoneInfo

DAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre",
}
ZONES = {
    "hora del centro": "America/Mexico_City",
    "Central Time": "America/Mexico_City",
    "hora de Madrid": "Europe/Madrid",
    "Madrid time": "Europe/Madrid",
    "hora de Kathmandu": "Asia/Kathmandu",
    "Kathmandu time": "Asia/Kathmandu",
    "UTC": "UTC",
}
IN_WORDS = re.compile(
    r"(\w+) (\d{1,2}) (?:de )?(\w+)(?: (?:de )?(\d{4}))?, (\d{1,2}):(\d\d) ([ap])\. ?m\."
    r" \(([^)]+)\)"
)


def moments_in(text: str, language: str) -> list[datetime]:
    """Return the moments of a text, and check the weekdays; moments of this year have no year."""
    return [as_moment(*match.groups(), language=language) for match in IN_WORDS.finditer(text)]


def as_moment(
    weekday: str, day: str, month: str, year: str | None, *clock: str, language: str
) -> datetime:
    hour, minute, half, zone = clock
    here = ZoneInfo(ZONES[zone])
    months = MONTHS[language].split()
    on = date(int(year or datetime.now(here).year), months.index(month) + 1, int(day))
    assert DAYS[language].split()[on.weekday()] == weekday
    at = int(hour) % 12 + (12 if half == "p" else 0)
    return datetime(on.year, on.month, on.day, at, int(minute), tzinfo=here)
