"""Gauge of the platform, which calls us with a token as companies do."""

from datetime import datetime

from companies import services
from core.measures.gauges import Gauges, gauge, gauges


@gauges
def platform_gauges(now: datetime) -> Gauges:
    if (used := services.platform_last_seen()) is not None:
        yield gauge(
            "platform_feed_age_seconds",
            "Seconds since the platform used POST /platform/feed, to the minute",
            (now - used).total_seconds(),
        )
