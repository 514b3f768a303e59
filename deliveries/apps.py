from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from deliveries.upkeep import partitions


class DeliveriesConfig(AppConfig):
    name = "deliveries"
    verbose_name = _("Deliveries")

    def ready(self) -> None:
        # Runs with every migration, so that no deployment can leave it out.
        post_migrate.connect(partitions.prepare_partitions, sender=self)
