import sys
from importlib import import_module
from pkgutil import iter_modules

from django.apps import AppConfig, apps
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = _("Webhooks")

    def ready(self) -> None:
        """Load the folder `event_types` of each app, whose modules register event types."""
        autodiscover_modules("event_types")
        for app in apps.get_app_configs():
            folder = f"{app.name}.event_types"
            for module in iter_modules(getattr(sys.modules.get(folder), "__path__", ())):
                import_module(f"{folder}.{module.name}")
