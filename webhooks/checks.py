"""Checks for settings that would let a company's URL reach internal hosts (core.watch.checks)."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use


@register(SETTINGS, Use.TARGETS)
def production_targets(**_: Any) -> list[CheckMessage]:
    if settings.ENVIRONMENT != "production":
        return []
    problems = []
    if settings.WEBHOOK_ALLOW_HTTP:
        problems.append("WEBHOOK_ALLOW_HTTP is on")
    if settings.WEBHOOK_ALLOWED_NETWORKS:
        problems.append("WEBHOOK_ALLOWED_NETWORKS is not empty")
    return [
        Error(f"{problem} in production.", hint="Unset it.", id="config.E004")
        for problem in problems
    ]
