"""Webhooks."""

import django.db.models.deletion
from django.db import migrations, models

import core.data.encryption


class Migration(migrations.Migration):
    initial = True

    dependencies = [("companies", "0002_functions")]

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
                ("type_id", models.PositiveSmallIntegerField(verbose_name="type")),
                (
                    "url",
                    models.CharField(
                        blank=True, help_text="Empty: its events are fetched.", max_length=2048
                    ),
                ),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                (
                    "paused_reason",
                    models.CharField(
                        blank=True,
                        help_text="Why the service paused the webhook; empty if it did not.",
                        max_length=300,
                        verbose_name="paused reason",
                    ),
                ),
                (
                    "resumed_at",
                    models.DateTimeField(editable=False, null=True, verbose_name="resumed at"),
                ),
                (
                    "max_in_flight",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Never more requests at once; empty: as the engine finds.",
                        null=True,
                        verbose_name="max in flight",
                    ),
                ),
                (
                    "standard_headers",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Also sign as Standard Webhooks has it.",
                    ),
                ),
                ("begins_after", models.BigIntegerField(db_default=0, default=0, editable=False)),
                ("auth_token", core.data.encryption.EncryptedTextField(editable=False, null=True)),
                ("secret", core.data.encryption.EncryptedTextField(editable=False, null=True)),
                ("next_secret", core.data.encryption.EncryptedTextField(editable=False, null=True)),
                ("next_secret_at", models.DateTimeField(editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created at")),
                ("updated_at", models.DateTimeField(auto_now=True, verbose_name="updated at")),
                (
                    "deleted_at",
                    models.DateTimeField(editable=False, null=True, verbose_name="deleted at"),
                ),
                (
                    "company",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="webhooks",
                        to="companies.company",
                        verbose_name="company",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "verbose_name_plural": "webhooks",
                "permissions": [("pause_webhook", "Can pause and resume a webhook")],
                "indexes": [
                    models.Index(
                        condition=models.Q(("deleted_at", None)),
                        fields=["company", "type_id"],
                        name="webhook_listening",
                    )
                ],
            },
        ),
    ]
