"""Gauges of GET /metrics: current values, read by a bounded number of statements.

An app registers its own in its module `gauges`.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache

from django.db import ProgrammingError
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from prometheus_client.metrics_core import GaugeMetricFamily

from core.data.database_words import is_of_another_version

PREFIX = "parceldesk_"

Gauges = Iterator[GaugeMetricFamily]
Read = Callable[[datetime], Gauges]

registered: list[Read] = []


def gauges(read: Read) -> Read:
    """Decorate a function that reads some gauges, as of a time."""
    registered.append(read)
    return read


@cache
def load_gauges() -> None:
    """Have the modules `gauges` of all apps register theirs."""
    autodiscover_modules("gauges")


def read_gauges() -> Gauges:
    """Read the gauges of all apps; raises OperationalError or InterfaceError without a database.

    Before `migrate`, gauges whose tables do not exist yet are left out and `schema_ok` is 0.
    """
    load_gauges()
    now = timezone.now()
    schema_ok = True
    for read in registered:
        try:
            families = list(read(now))
        except ProgrammingError as error:
            if not is_of_another_version(error):
                raise
            schema_ok = False
        else:
            yield from families
    yield gauge("schema_ok", "1 while every table that is asked for is there", schema_ok)


def gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, value)


def gauge_by(label: str, name: str, text: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    """Return a gauge with a value for each value of a label."""
    family = GaugeMetricFamily(PREFIX + name, text, labels=[label])
    for which, value in values.items():
        family.add_metric([which], value)
    return family


def seconds_since(now: datetime, since: datetime | None) -> float:
    """Return how many seconds have passed; 0 without a time."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0
