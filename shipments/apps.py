from django.apps import AppConfig

from deliveries.upkeep.partitions import register_partitioned
from deliveries.upkeep.rest_rows import Partitioned


class ShipmentsConfig(AppConfig):
    name = "shipments"

    def ready(self) -> None:
        register_partitioned(Partitioned("shipments_trackingupdate", "day", "date"))
