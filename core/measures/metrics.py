"""GET /metrics, for Prometheus: any web process answers for the whole deployment.

Why: decision page config-counts-are-sums-in-the-database.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from core.measures import catalogue, sums
from core.measures.counting import CountMeasure, Labels, Series, TimeMeasure
from core.measures.gauges import PREFIX, read_gauges

logger = logging.getLogger(__name__)


class Families(Collector):
    """Collector of families that are read already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self.families = families

    def collect(self) -> Iterable[Metric]:
        return self.families


def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with all metrics; with `database_up` alone while the database is away."""
    up = GaugeMetricFamily(f"{PREFIX}database_up", "1 while the database answers", value=1)
    try:
        sums.write_sums()
        families = [up, *counter_families(sums.read_sums()), *read_gauges()]
    except (OperationalError, InterfaceError) as error:
        logger.warning("no figures, the database is away: %s", error)
        up = GaugeMetricFamily(up.name, up.documentation, value=0)
        families = [up]
    registry = CollectorRegistry()
    registry.register(Families(families))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def counter_families(series_values: Mapping[Series, float]) -> Iterator[Metric]:
    """Yield the counters and histograms of the catalogue; those without labels begin with 0."""
    by_name: defaultdict[str, dict[Labels, float]] = defaultdict(dict)
    for (name, labels), value in series_values.items():
        by_name[name][labels] = value
    for each in catalogue.ALL:
        make: Callable[..., Metric] = counter if isinstance(each, CountMeasure) else histogram
        yield make(each, by_name)


def counter(what: CountMeasure, series_values: Mapping[str, Mapping[Labels, float]]) -> Metric:
    family = CounterMetricFamily(PREFIX + what.name, what.text, labels=what.labels)
    values = dict(series_values.get(what.name, {}))
    for labels in what.from_zero if what.labels else ((),):
        values.setdefault(labels, 0.0)
    for labels, value in sorted(values.items()):
        if len(labels) == len(what.labels):
            family.add_metric(labels, value)
    return family


def histogram(what: TimeMeasure, series_values: Mapping[str, Mapping[Labels, float]]) -> Metric:
    family = HistogramMetricFamily(PREFIX + what.name, what.text, labels=what.labels)
    bins: defaultdict[Labels, dict[float | None, float]] = defaultdict(lambda: defaultdict(float))
    if not what.labels:
        bins[()] = defaultdict(float)
    for series, value in series_values.get(f"{what.name}_bucket", {}).items():
        labels, bound = series[:-1], float(series[-1])
        if len(labels) == len(what.labels):
            # A version with other bounds may have counted it.
            bins[labels][what.bucket_of(bound)] += value
    for labels, buckets in sorted(bins.items()):
        number, cumulated = 0.0, []
        for edge in (*what.bounds, None):
            number += buckets.get(edge, 0.0)
            cumulated.append(("+Inf" if edge is None else repr(edge), number))
        seconds = series_values.get(what.sum_name, {}).get(labels, 0.0)
        family.add_metric(labels, cumulated, seconds)
    return family
