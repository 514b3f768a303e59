"""Export of a company's shipments (companies.exporting)."""

from companies import erasing
from companies.exporting import Exported, register_exported
from shipments.erasable import SHIPMENTS

walk = erasing.walk_of_ids(SHIPMENTS, 500)

register_exported(
    __name__,
    Exported(
        "shipments",
        "its shipments, as the platform told of them.",
        "shipments_shipment",
        walk,
        without=("heard",),
    ),
    Exported(
        "tracking_updates",
        "where its shipments were, and when.",
        "shipments_trackingupdate",
        walk,
        key="shipment_id",
        without=("digest",),
        order="shipment_id, occurred_at",
    ),
    Exported(
        "surcharges",
        "what carriers charged later.",
        "shipments_surcharge",
        walk,
        key="shipment_id",
    ),
    Exported(
        "incidences",
        "what went wrong with its shipments.",
        "shipments_incidence",
        walk,
        key="shipment_id",
        without=("heard",),
    ),
)
