"""Rows that tasks fail on, and go on without."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0002_secrets_of_kept_answers"),
    ]

    operations = [
        migrations.CreateModel(
            name="FailedRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("task", models.CharField(max_length=50)),
                ("kind", models.CharField(max_length=20)),
                ("key", models.CharField(max_length=100)),
                ("error", models.CharField(max_length=300)),
                ("first_at", models.DateTimeField(auto_now_add=True, verbose_name="first failed")),
                ("last_at", models.DateTimeField(auto_now_add=True, verbose_name="last failed")),
                ("times", models.PositiveIntegerField(default=1)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("task", "kind", "key"), name="one_entry_per_failed_row"
                    )
                ],
            },
        ),
        migrations.AlterField(
            "company",
            "active",
            models.BooleanField(
                default=True,
                help_text="An inactive company's tokens are refused, and its webhooks are paused.",
            ),
        ),
    ]
