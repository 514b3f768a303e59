from contextlib import suppress

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created
from django.urls import register_converter
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy

from core.api.paths import IdConverter, TextConverter
from core.data.database import prepare_connection


class CoreConfig(AppConfig):
    name = "core"
    verbose_name = gettext_lazy("Service")

    def ready(self) -> None:
        register_converter(IdConverter, "id")
        register_converter(TextConverter, "text")
        connection_created.connect(prepare_connection)
        # The settings checks refuse these addresses if their packages are missing.
        for address, begin in (
            (settings.OTEL_EXPORTER_OTLP_ENDPOINT, "core.watch.tracing.begin_tracing"),
            (settings.SENTRY_DSN, "core.watch.error_reports.begin_reporting"),
        ):
            if address:
                with suppress(ImportError, ValueError):
                    import_string(begin)()
