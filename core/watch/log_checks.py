"""Checks of settings for logs and reports (core.watch.checks says who runs them)."""

from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.watch.checks import SETTINGS, Use
from core.watch.log_bound import WHICH_ATTEMPTS
from core.watch.log_lines import FORMATS

INSTALL = "Install requirements-tracing.txt, or unset it."


@register(SETTINGS, Use.LOGS)
def log_words(**_: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if settings.LOG_FORMAT not in FORMATS:
        problems.append(
            Error(
                f"LOG_FORMAT is {settings.LOG_FORMAT!r}.",
                hint=f"Set it to {' or '.join(FORMATS)}.",
                id="config.E040",
            )
        )
    if settings.LOG_ATTEMPTS not in WHICH_ATTEMPTS:
        problems.append(
            Error(
                f"LOG_ATTEMPTS is {settings.LOG_ATTEMPTS!r}.",
                hint=f"Set it to one of {', '.join(WHICH_ATTEMPTS)}.",
                id="config.E041",
            )
        )
    return problems


@register(SETTINGS, Use.LOGS)
def traces(**_: Any) -> list[CheckMessage]:
    endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT
    if not endpoint:
        return []
    if not is_address(endpoint):
        return [
            Error(
                "OTEL_EXPORTER_OTLP_ENDPOINT is not the address of a collector.",
                hint="Write http://host:4318 or https://host:4318, without /v1/traces.",
                id="config.E042",
            )
        ]
    if not is_installed("opentelemetry.exporter.otlp.proto.http"):
        return [
            Error(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and what sends traces is not installed.",
                hint=INSTALL,
                id="config.E042",
            )
        ]
    return []


@register(SETTINGS, Use.LOGS)
def error_reports(**_: Any) -> list[CheckMessage]:
    dsn = settings.SENTRY_DSN
    if not dsn:
        return []
    # A DSN is a URL with a key before its host and a number as its path.
    if not (is_address(dsn) and urlsplit(dsn).username and urlsplit(dsn).path.strip("/")):
        return [
            Error(
                "SENTRY_DSN is not a DSN.",
                hint="Copy it from the settings of the project: https://KEY@HOST/NUMBER.",
                id="config.E043",
            )
        ]
    if not is_installed("sentry_sdk"):
        return [
            Error(
                "SENTRY_DSN is set, and what sends errors is not installed.",
                hint=INSTALL,
                id="config.E043",
            )
        ]
    return []


def is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
