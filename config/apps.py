from django.apps import AppConfig

from config.startup import load_checks


class ConfigConfig(AppConfig):
    """App without tables, installed so that Django runs the checks of settings."""

    name = "config"

    def ready(self) -> None:
        load_checks()
