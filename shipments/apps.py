from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from deliveries.upkeep.partitions import register_partitioned
from deliveries.upkeep.rest_rows import Partitioned


class ShipmentsConfig(AppConfig):
    name = "shipments"
    verbose_name = _("Shipments")

    def ready(self) -> None:
        register_partitioned(Partitioned("shipments_trackingupdate", "day", "date"))
