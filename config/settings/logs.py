"""Logs, traces and error reports."""

from config import logs
from config.settings.base import env

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
LOG_FORMAT = env.str("LOG_FORMAT", default="text")
# Turns on a line for each request (config.access_log).
ACCESS_LOG = env.bool("ACCESS_LOG", default=True)
# Attempts of deliveries to log (deliveries.engine.attempt_log).
LOG_ATTEMPTS = env.str("LOG_ATTEMPTS", default="failed")
# Address for traces (core.watch.tracing). OpenTelemetry reads the other variables OTEL_… itself.
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
# Address for error reports (core.watch.error_reports).
SENTRY_DSN = env.str("SENTRY_DSN", default="")
LOGGING = logs.logging(LOG_LEVEL, LOG_FORMAT)
