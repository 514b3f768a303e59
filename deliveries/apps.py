from django.apps import AppConfig
from django.db.models.signals import post_migrate

from deliveries.upkeep import partitions


class DeliveriesConfig(AppConfig):
    name = "deliveries"

    def ready(self) -> None:
        # Part of whatever migrates, so that no deployment can leave it out.
        post_migrate.connect(partitions.prepare_partitions, sender=self)
