"""Webhooks: which company wants which events at which URL."""

from django.db import migrations, models

from companies.encryption import EncryptedTextField


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("webhooks", "0002_pausing"),
    ]

    dependencies = [
        ("companies", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "type_id",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (1, "onShipmentStatusUpdate"),
                            (2, "statusUpdateWithEcommerceInfo"),
                            (3, "tracking.simple"),
                            (4, "ecommerceTracking"),
                            (5, "surcharge"),
                        ],
                        verbose_name="type",
                    ),
                ),
                ("url", models.CharField(max_length=2048)),
                ("active", models.BooleanField(default=True)),
                (
                    "paused_reason",
                    models.CharField(
                        blank=True,
                        help_text="Why the service paused the webhook; empty if it did not.",
                        max_length=300,
                    ),
                ),
                ("resumed_at", models.DateTimeField(editable=False, null=True)),
                ("auth_token", EncryptedTextField(editable=False, null=True)),
                ("secret", EncryptedTextField(editable=False, null=True)),
                ("next_secret", EncryptedTextField(editable=False, null=True)),
                ("next_secret_at", models.DateTimeField(editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("deleted_at", models.DateTimeField(editable=False, null=True)),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=models.PROTECT, related_name="webhooks", to="companies.company"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(deleted_at=None),
                        fields=["company", "type_id"],
                        name="webhook_listening",
                    )
                ],
                "permissions": [("pause_webhook", "Can pause and resume a webhook")],
            },
        ),
    ]
