"""Runs of deliveries that are sent again, as rows."""

import datetime

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deliveries", "0021_proxy_trouble"),
    ]

    operations = [
        migrations.CreateModel(
            name="Replay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="begun")),
                ("by", models.CharField(max_length=200, verbose_name="by")),
                ("webhook_id", models.BigIntegerField(null=True, verbose_name="webhook")),
                ("company_id", models.BigIntegerField(null=True, verbose_name="company")),
                ("host", models.CharField(blank=True, max_length=255, verbose_name="host")),
                ("type_id", models.PositiveSmallIntegerField(null=True, verbose_name="type")),
                ("since", models.DateTimeField(null=True, verbose_name="created from")),
                ("until", models.DateTimeField(verbose_name="created before")),
                (
                    "state",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (0, "waiting"),
                            (1, "delivered"),
                            (2, "given_up"),
                            (3, "cancelled"),
                        ],
                        verbose_name="state",
                    ),
                ),
                ("rate", models.PositiveIntegerField(verbose_name="per second")),
                (
                    "total",
                    models.BigIntegerField(
                        help_text="As counted at the beginning.", verbose_name="of"
                    ),
                ),
                ("passed", models.BigIntegerField(default=0, verbose_name="passed")),
                ("sent", models.BigIntegerField(default=0, verbose_name="made due")),
                ("at_webhook", models.BigIntegerField(default=0)),
                (
                    "at_time",
                    models.DateTimeField(
                        default=datetime.datetime(1, 1, 1, 0, 0, tzinfo=datetime.UTC)
                    ),
                ),
                ("at_event", models.BigIntegerField(default=0)),
                ("moved_at", models.DateTimeField(auto_now_add=True)),
                ("next_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True, verbose_name="ended")),
                (
                    "stopped_by",
                    models.CharField(blank=True, max_length=200, verbose_name="stopped by"),
                ),
            ],
            options={
                "verbose_name": "run of deliveries sent again",
                "verbose_name_plural": "runs of deliveries sent again",
            },
        ),
    ]
