"""Description of a webhook's health in GET /schema."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from core.api.schema import Examples, operation
from core.api.shapes import Time, shape
from deliveries.api.schema import TAG


class Durations(serializers.Serializer[Any]):
    p50 = serializers.IntegerField(allow_null=True)
    p95 = serializers.IntegerField(allow_null=True)


class HoldRow(serializers.Serializer[Any]):
    """A hold: we send nothing to the webhook's host; deliveries wait and use up no retry."""

    since = Time()
    until = Time(allow_null=True, help_text="null: until we release it.")
    reason = serializers.CharField(allow_null=True, help_text="Why, if we say so.")


class HealthRow(serializers.Serializer[Any]):
    condition = serializers.ChoiceField(
        choices=["well", "failing", "resting", "held", "paused", "unreadable"],
        help_text="unreadable: we can no longer read its secret or auth_token. Nothing is lost:"
        " deliveries wait until you set a new one. held: we send nothing to its host for now, and"
        " `hold` says more. Nothing is lost here either.",
    )
    hold = HoldRow(allow_null=True)
    failures_in_a_row = serializers.IntegerField()
    failing_since = Time(allow_null=True)
    resting_until = Time(allow_null=True, help_text="No attempt is made before this time.")
    attempts = serializers.IntegerField(help_text="Attempts of the last 1000 deliveries.")
    success_rate = serializers.FloatField(min_value=0, max_value=1, allow_null=True)
    duration_ms = Durations()
    waiting = serializers.IntegerField(help_text="Unfinished deliveries, counted up to 10000.")
    oldest_waiting = Time(allow_null=True)


HealthAnswer = shape(
    "HealthAnswer",
    data=HealthRow(),
)


HEALTHY = {
    "condition": "well",
    "hold": None,
    "failures_in_a_row": 0,
    "failing_since": None,
    "resting_until": None,
    "attempts": 1200,
    "success_rate": 0.9975,
    "duration_ms": {"p50": 64, "p95": 210},
    "waiting": 0,
    "oldest_waiting": None,
}
HELD_EXAMPLE = {
    **HEALTHY,
    "condition": "held",
    "hold": {
        "since": "2026-01-02 00:00:00",
        "until": "2026-01-02 06:00:00",
        "reason": "You asked us to wait while your data centre moves.",
    },
    "waiting": 37,
    "oldest_waiting": "2026-01-02 00:00:04",
}

webhook_health = extend_schema_view(
    get=operation(
        "readHealth",
        "Check a webhook's health.",
        tag=TAG,
        answer=HealthAnswer,
        shows=Examples(answer={"data": HEALTHY}, held={"data": HELD_EXAMPLE}),
        errors={404: None},
    )
)
