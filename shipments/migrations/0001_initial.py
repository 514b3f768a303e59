"""Shipments, and what the platform's feed says about them."""

from django.db import migrations, models

ID = (
    "id",
    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("companies", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Shipment",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("tracking_number", models.CharField(max_length=100)),
                ("carrier_name", models.CharField(max_length=100)),
                ("carrier_id", models.BigIntegerField(null=True)),
                (
                    "order",
                    models.JSONField(
                        help_text="The shop's order, for ecommerce events.", null=True
                    ),
                ),
                ("status", models.CharField(default="Created", max_length=100)),
                ("created_at", models.DateTimeField()),
                ("shipped_at", models.DateTimeField(null=True)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("heard", models.BinaryField(default=bytes)),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=models.PROTECT, related_name="shipments", to="companies.company"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["tracking_number", "company"], name="shipment_tracking_number"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="TrackingUpdate",
            fields=[
                ID,
                ("digest", models.BinaryField(max_length=16)),
                ("status", models.CharField(max_length=100)),
                ("status_description", models.CharField(blank=True, max_length=500)),
                ("location", models.CharField(blank=True, max_length=300)),
                ("occurred_at", models.DateTimeField()),
                (
                    "shipment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="updates",
                        to="shipments.shipment",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("shipment", "digest"), name="one_update_per_line"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Surcharge",
            fields=[
                ID,
                ("surcharge_id", models.BigIntegerField()),
                (
                    "transaction_type",
                    models.CharField(
                        choices=[("surcharge", "Surcharge"), ("refund", "Refund")], max_length=10
                    ),
                ),
                ("surcharge_type", models.CharField(max_length=100)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("amount", models.DecimalField(decimal_places=4, max_digits=14)),
                ("currency", models.CharField(max_length=3)),
                ("created_at", models.DateTimeField()),
                (
                    "shipment",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="surcharges", to="shipments.shipment"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("surcharge_id", "transaction_type"),
                        name="one_charge_and_one_refund",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Incidence",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("kind", models.CharField(blank=True, max_length=50)),
                ("description", models.CharField(blank=True, max_length=500)),
                ("open", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField()),
                ("heard", models.BinaryField(default=bytes)),
                (
                    "shipment",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="incidences", to="shipments.shipment"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(open=True),
                        fields=["shipment"],
                        name="incidence_open",
                    )
                ]
            },
        ),
    ]
