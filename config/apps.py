from importlib import import_module

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Not an app with tables: it makes Django run our checks."""

    name = "config"

    def ready(self) -> None:
        import_module("config.checks")
