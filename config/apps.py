from contextlib import suppress

from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import import_string

from config.startup import load_checks


class ConfigConfig(AppConfig):
    """App without tables, installed so that Django runs the checks of settings."""

    name = "config"

    def ready(self) -> None:
        load_checks()
        # Where their packages are missing, the checks of settings say so.
        for address, begin in (
            (settings.OTEL_EXPORTER_OTLP_ENDPOINT, "config.tracing.begin_tracing"),
            (settings.SENTRY_DSN, "config.error_reports.begin_reporting"),
        ):
            if address:
                with suppress(ImportError, ValueError):
                    import_string(begin)()
