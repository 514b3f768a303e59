from django.apps import AppConfig

from config.startup import load_checks


class ConfigConfig(AppConfig):
    """App without tables, installed so that Django runs its system checks."""

    name = "config"

    def ready(self) -> None:
        load_checks()
