from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class WebhooksConfig(AppConfig):
    name = "webhooks"

    def ready(self) -> None:
        # Each app registers its event types where this finds them, as admin.py does its pages.
        autodiscover_modules("event_types")
