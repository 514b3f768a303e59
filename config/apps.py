from importlib import import_module

from django.apps import AppConfig
from django.db.backends.signals import connection_created

from config.database import prepare_connection
from config.startup import load_checks


class ConfigConfig(AppConfig):
    """Not an app with tables: it makes Django run our checks and prepare our connections."""

    name = "config"

    def ready(self) -> None:
        load_checks()
        import_module("config.upgrades")
        connection_created.connect(prepare_connection)
