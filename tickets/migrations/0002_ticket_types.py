"""The ticket types to ship (decision T14); operators may add their own."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TYPES = [
    (2, "carrier", "Activation of a carrier", "", False),
    (3, "overweight", "A shipment was charged for more weight than it has", "guide", True),
    (4, "lost", "A shipment is lost", "guide", True),
    (5, "damaged", "A shipment arrived damaged", "guide", True),
    (6, "wrong_address", "A shipment went to a wrong address", "guide", True),
    (7, "refund", "A credit should be refunded", "credit", True),
    (8, "delay", "A shipment is late", "guide", True),
    (9, "payment_pending", "A payment is pending", "", False),
    (10, "pobox_package", "A package at the PO box", "warehouse-package", False),
    (13, "theft", "A shipment was stolen", "guide", True),
    (14, "redirection", "A shipment should go to another address", "guide", True),
    (19, "credit_line", "Application for a credit line", "legal-credit", True),
    (24, "partial_refund", "A credit should be refunded in part", "credit", True),
    (25, "delivery_attempt", "A delivery attempt is disputed", "guide", True),
]


def add_types(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    TicketType = apps.get_model("tickets", "TicketType")
    TicketType.objects.bulk_create(
        (
            TicketType(
                id=id, name=name, description=text, reference=reference, reference_required=required
            )
            for id, name, text, reference, required in TYPES
        ),
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [("tickets", "0001_initial")]

    operations = [migrations.RunPython(add_types, migrations.RunPython.noop)]
