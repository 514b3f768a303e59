from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.urls import register_converter
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
